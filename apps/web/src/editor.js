// The editor: CodeMirror with JSON or the language of equation files. A bundle of its own, loaded when it is needed;
// it leaves DaedalusEditor.create.
import { autocompletion, completionKeymap, completeFromList } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { DEQ_FUNCTIONS, DEQ_KEYWORDS, JSON_KEYS, JSON_TYPES } from './words.js';

const deq = StreamLanguage.define({
  name: 'deq',
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/#.*/)) return 'comment';
    if (stream.match(/"[^"]*"?/)) return 'string';
    if (stream.match(/\d+(\.(?!\.)\d*)?([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?/)) return 'number';
    if (stream.match(/[A-Za-z_]\w*/)) {
      const word = stream.current();
      if (DEQ_KEYWORDS.includes(word)) return 'keyword';
      return DEQ_FUNCTIONS.includes(word) ? 'atom' : 'variableName';
    }
    stream.next();
    return /[-+*/^=~<>!&|:']/.test(stream.current()) ? 'operator' : null;
  },
  languageData: { commentTokens: { line: '#' } },
});

const colors = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--code-keyword)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: [tags.propertyName, tags.atom], color: 'var(--code-name)' },
  { tag: tags.operator, color: 'var(--code-keyword)' },
]);

const look = EditorView.theme({
  '&': { backgroundColor: 'var(--field)', color: 'var(--ink)', border: '1px solid var(--border)', borderRadius: '6px', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--focus)' },
  '.cm-scroller': { fontFamily: 'ui-monospace, monospace', fontSize: '14px' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-tooltip': { backgroundColor: 'var(--panel)', color: 'var(--ink)', border: '1px solid var(--border)' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--select) !important' },
});

// Words of the language and all names that stand in the text.
function complete(context) {
  const word = context.matchBefore(/[A-Za-z_][\w.]*/);
  if (!word && !context.explicit) return null;
  const text = context.state.doc.toString(), isJson = /^\s*\{/.test(text);
  const names = new Set(text.match(/[A-Za-z_]\w{1,}/g) ?? []);
  const fixed = isJson ? [...JSON_KEYS, ...JSON_TYPES] : [...DEQ_KEYWORDS, ...DEQ_FUNCTIONS];
  for (const known of fixed) names.delete(known);
  if (word) names.delete(word.text);
  return completeFromList([...fixed.map((label) => ({ label, type: 'keyword' })), ...[...names].map((label) => ({ label, type: 'variable' }))])(context);
}

export function create(parent, text, onChange, label) {
  const language = new Compartment();
  const languageOf = (content) => (/^\s*[{[]/.test(content) ? json() : deq);
  let isJson = /^\s*[{[]/.test(text);
  // In a shadow root styles come as sheets of their own, which the strictest content policy allows.
  const root = parent.attachShadow({ mode: 'open' }), inside = document.createElement('div');
  inside.style.height = '100%';
  root.append(inside);
  const view = new EditorView({
    parent: inside,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [lineNumbers(), history(), drawSelection(), highlightActiveLine(), bracketMatching(), lintGutter(),
        autocompletion({ override: [complete] }), syntaxHighlighting(colors), look, language.of(languageOf(text)), EditorView.lineWrapping,
        keymap.of([...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]), // Tab leaves the editor: no trap for the keyboard
        EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', autocapitalize: 'off' }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          const content = view.state.doc.toString(), now = /^\s*[{[]/.test(content);
          if (now !== isJson) {
            isJson = now;
            view.dispatch({ effects: language.reconfigure(languageOf(content)) });
          }
          onChange(content);
        })],
    }),
  });
  return {
    get: () => view.state.doc.toString(),
    set: (content) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: content } }),
    focus: () => view.focus(),
    // faults: [{ line, column, text, severity }], from 1; the squiggle goes to the end of the word there.
    mark: (faults) => {
      const { doc } = view.state;
      view.dispatch(setDiagnostics(view.state, faults.map((f) => {
        const line = doc.line(Math.min(Math.max(1, f.line ?? 1), doc.lines));
        const from = Math.min(line.from + Math.max(0, (f.column ?? 1) - 1), line.to);
        const word = /^[\w.]+|^./.exec(line.text.slice(from - line.from));
        return { from, to: Math.min(line.to, from + (word ? word[0].length : 1)), severity: f.severity ?? 'error', message: f.text };
      })));
    },
    go: (line, column) => {
      const at = view.state.doc.line(Math.min(Math.max(1, line), view.state.doc.lines));
      view.dispatch({ selection: { anchor: Math.min(at.to, at.from + Math.max(0, column - 1)) }, scrollIntoView: true });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}
