// The editor of SQL: CodeMirror in a shadow tree, whose style sheets need no exception in the page's policy.
import {
  acceptCompletion, autocompletion, closeBrackets, completionKeymap, type Completion, type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { keywordCompletionSource, PostgreSQL, sql } from '@codemirror/lang-sql'
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { Prec } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { identifier } from './text'

/** What completion knows: the tables, and the columns of a table. */
export interface Names {
  tables(): string[]
  columns(table: string): Promise<string[]>
}

const theme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--page)', fontSize: '14px', minHeight: '8rem' },
  '.cm-content': { fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace', caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused': { outline: '3px solid var(--accent)', outlineOffset: '-3px' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--dim)', borderRight: '1px solid var(--line)' },
  '.cm-selectionBackground': { backgroundColor: 'var(--mark) !important' },
  '.cm-matchingBracket': { backgroundColor: 'var(--mark) !important' },
  '.cm-tooltip': { backgroundColor: 'var(--page)', color: 'var(--text)', border: '1px solid var(--dim)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-completionDetail': { fontStyle: 'normal', marginLeft: '1em' },
})

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--number)' },
  { tag: tags.comment, color: 'var(--dim)' },
])

// Text that is typed is inserted here. Where it replaces coloured text, Chromium would keep the colour in an
// attribute style, which the page's policy forbids.
const typing = EditorView.domEventHandlers({
  beforeinput(e, view) {
    if (e.inputType !== 'insertText' || !e.data || view.composing) return false
    const { from, to } = view.state.selection.main
    const text = e.data
    const insert = () => view.state.update({ ...view.state.replaceSelection(text), userEvent: 'input.type', scrollIntoView: true })
    if (!view.state.facet(EditorView.inputHandler).some((h) => h(view, from, to, text, insert))) view.dispatch(insert())
    e.preventDefault()
    return true
  },
})

/** An editor in an element. */
export class Editor {
  private view: EditorView

  constructor(host: HTMLElement, text: string, names: Names, run: () => void) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
    const keys = [{ key: 'Mod-Enter', run: () => (run(), true) }, { key: 'Tab', run: acceptCompletion }]
    this.view = new EditorView({
      doc: text,
      root,
      parent: root,
      extensions: [
        Prec.highest(keymap.of(keys)),
        lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets(),
        typing, EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'SQL query; Control and Enter run it' }),
        sql({ dialect: PostgreSQL }),
        autocompletion({ override: [complete(names), keywords], icons: false }),
        syntaxHighlighting(colours), theme,
        keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap]),
      ],
    })
  }

  text(): string {
    return this.view.state.doc.toString()
  }

  set(text: string) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } })
    this.view.focus()
  }

  close() {
    this.view.destroy()
  }
}

const allKeywords = keywordCompletionSource(PostgreSQL, true)

/** Keywords, except within a name in quotes. */
function keywords(c: CompletionContext) {
  return openQuote(c) === null ? allKeywords(c) : null
}

/** The position of the double quote of the name that is being typed; null if there is none. */
function openQuote(c: CompletionContext): number | null {
  let quote: string | null = null, at = 0
  const text = c.state.sliceDoc(0, c.pos)
  for (let i = 0; i < text.length; i++) {
    if (quote === text[i]) quote = null
    else if (quote === null && (text[i] === '"' || text[i] === "'")) {
      quote = text[i]
      at = i
    }
  }
  return quote === '"' ? at : null
}

/** Completes names of tables, and of columns of the tables that the query names. */
function complete(names: Names) {
  return async (c: CompletionContext): Promise<CompletionResult | null> => {
    const word = c.matchBefore(/[\p{L}\p{N}_.]+/u)
    const quote = openQuote(c)
    const from = quote ?? word?.from ?? c.pos
    if (from === c.pos && !c.explicit) return null
    const text = c.state.doc.toString()
    const afterFrom = /\b(from|join|describe|summarize)\s+$/i.test(text.slice(0, from))
    // The editor has closed the quote of a name that is being typed.
    const to = quote !== null && text[c.pos] === '"' ? c.pos + 1 : c.pos
    const all = names.tables()
    const options: Completion[] = all.map((name) => ({ label: identifier(name), type: 'class', detail: 'table' }))
    for (const table of mentioned(text, all)) {
      for (const column of await names.columns(table)) {
        const plain = /^[a-z_][a-z0-9_]*$/.test(column) && quote === null
        options.push({ label: plain ? column : identifier(column), type: 'property', detail: table })
      }
    }
    // The typed text has no quotes where the label has them, so the names are compared here.
    const typed = text.slice(from, c.pos).replace(/^"/, '').toLowerCase()
    const place = (o: Completion) => o.label.replace(/^"/, '').toLowerCase().indexOf(typed)
    const expected = afterFrom ? 'class' : 'property'
    const order = (o: Completion) => (o.type === expected ? 0 : 2) + (place(o) === 0 ? 0 : 1)
    const fitting = options.filter((o) => place(o) >= 0).sort((a, b) => order(a) - order(b))
    return { from, to, options: fitting, filter: false }
  }
}

/** The tables that a query names, by file name or by stem. */
function mentioned(text: string, tables: string[]): string[] {
  const words = new Set(text.match(/"(?:[^"]|"")*"|[\p{L}\p{N}_]+/gu))
  return tables.filter((t) => {
    const base = t.split('/').at(-1)!
    return [t, base].some((n) => words.has(identifier(n))) || words.has(base.replace(/\..*$/, ''))
  }).slice(0, 5)
}
