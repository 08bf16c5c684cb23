// Words of equation files and of mechanism texts, for highlighting and completion.
export const DEQ_KEYWORDS = ['model', 'param', 'const', 'int', 'var', 'discrete', 'let', 'choice', 'fn', 'where', 'table', 'for', 'in', 'end', 'if', 'then',
  'elseif', 'else', 'init', 'when', 'every', 'at', 'from', 'stop', 'record', 'solve', 'output', 'plot', 'against', 'score', 'prefer', 'avoid', 'reference', 'digits',
  'component', 'use', 'and', 'or', 'not'];
export const DEQ_FUNCTIONS = ['der', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'atan2', 'sinh', 'cosh', 'tanh', 'exp', 'log', 'log10', 'sqrt', 'cbrt', 'abs', 'sign',
  'min', 'max', 'pow', 'mod', 'floor', 'ceil', 'hypot', 'step', 'smoothstep', 'sum', 'prod', 'noevent', 'pre', 'pi'];
export const JSON_KEYS = ['daedalus', 'kind', 'name', 'doc', 'dimension', 'parameters', 'gravity', 'bodies', 'mass', 'inertia', 'r', 'angle', 'q', 'v', 'omega', 'fix',
  'points', 'body', 'joints', 'type', 'a', 'b', 'axis', 'length', 'ratio', 'pitch', 'radius', 'friction', 'mu', 'forces', 'k', 'c', 'l0', 'value', 'joint', 'drivers',
  'quantity', 'sensors', 'unit', 'events', 'when', 'direction', 'do', 'record', 'stop', 'impact', 'restitution', 'simulation', 't0', 't1', 'solver', 'formulation',
  'rtol', 'atol', 'h0', 'hmax', 'output', 'every'];
export const JSON_TYPES = ['mechanism', 'ground', 'revolute', 'prismatic', 'cylindrical', 'spherical', 'universal', 'planar', 'screw', 'fixed', 'distance', 'point_on_line',
  'point_on_plane', 'gear', 'rolling', 'rolling_sphere', 'knife_edge', 'parallel', 'perpendicular', 'spring', 'torsion', 'bushing', 'force', 'torque', 'motor', 'contact',
  'tire', 'rising', 'falling', 'both'];
