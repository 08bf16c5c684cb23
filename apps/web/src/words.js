// Words of equation files and of mechanism texts, for highlighting and completion.
export const DEQ_KEYWORDS = ['model', 'param', 'const', 'int', 'var', 'discrete', 'let', 'choice', 'fn', 'where', 'table', 'for', 'in', 'end', 'if', 'then',
  'elseif', 'else', 'init', 'when', 'every', 'at', 'from', 'stop', 'record', 'solve', 'output', 'plot', 'against', 'score', 'prefer', 'avoid', 'reference', 'digits',
  'component', 'use', 'and', 'or', 'not'];
export const DEQ_FUNCTIONS = ['der', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'atan2', 'sinh', 'cosh', 'tanh', 'exp', 'log', 'log10', 'sqrt', 'cbrt', 'abs', 'sign',
  'min', 'max', 'pow', 'mod', 'floor', 'ceil', 'hypot', 'step', 'smoothstep', 'sum', 'prod', 'noevent', 'pre', 'pi'];
// Of mechanisms: what the schema has (docs/model.schema.json).
export const { keys: JSON_KEYS, types: JSON_TYPES } = globalThis.DAEDALUS_DATA?.words ?? { keys: [], types: [] };
