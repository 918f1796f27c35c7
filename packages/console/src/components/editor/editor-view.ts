/**
 * The editor itself, CodeMirror 6. This file is loaded when an editor is first shown.
 *
 * It lives in a shadow root: there it brings its styles as constructed sheets, which a policy without inline styles allows.
 */
import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { history, historyKeymap, standardKeymap } from '@codemirror/commands'
import { bracketMatching, syntaxHighlighting } from '@codemirror/language'
import { EditorState, type Extension, StateEffect, StateField, type Transaction } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, keymap, placeholder } from '@codemirror/view'
import { completionsAt, type KnownNames } from '@sixtables/gateway/browser'
import { colours, gqlLanguage, jsLanguage, jsonLanguage } from './languages.ts'

const languages = { gql: gqlLanguage, json: jsonLanguage, js: jsLanguage } as const
type Language = keyof typeof languages

export interface EditorOptions {
  readonly language: Language
  readonly label: string
  readonly value: string
  readonly placeholder: string
  readonly onChange: (value: string) => void
  readonly onRun: () => void
  readonly names: () => KnownNames
}

export type MountedEditor = ReturnType<typeof mountEditor>

export function mountEditor(host: HTMLElement, options: EditorOptions) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: options.value,
      extensions: [
        extensionsOf(options),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !update.transactions.some((one) => one.isUserEvent('set'))) {
            options.onChange(update.state.doc.toString())
          }
        }),
      ],
    }),
  })
  return {
    /** @param at - the cursor's place; absent: where it was */
    focus(at?: number) {
      if (at !== undefined) view.dispatch({ selection: { anchor: Math.min(at, view.state.doc.length) } })
      view.focus()
    },
    setValue(value: string) {
      if (value === view.state.doc.toString()) return
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value }, userEvent: 'set' })
    },
    /** Marks a place of the text as wrong; without one removes the mark. */
    setMistake: (at: number | undefined) => view.dispatch({ effects: setMistake.of(at) }),
    close: () => view.destroy(),
  }
}

function extensionsOf(options: EditorOptions): Extension {
  const run = (): boolean => {
    options.onRun()
    return true
  }
  const isGql = options.language === 'gql'
  return [
    keymap.of([
      { key: 'Mod-Enter', run },
      { key: 'Ctrl-Enter', run },
      { key: 'Tab', run: acceptCompletion },
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...historyKeymap,
      ...standardKeymap,
    ]),
    history(),
    bracketMatching(),
    closeBrackets(),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': options.label, spellcheck: 'false' }),
    placeholder(options.placeholder),
    languages[options.language],
    syntaxHighlighting(colours),
    autocompletion({ override: isGql ? [sourceOf(options)] : [], icons: false, interactionDelay: 0 }),
    mistakes,
    overSelection,
    theme,
  ]
}

function sourceOf({ names }: EditorOptions): (context: CompletionContext) => CompletionResult | null {
  return ({ state, pos }) => {
    const found = completionsAt(state.doc.toString(), pos, names())
    if (found === undefined) return null
    return {
      from: found.from,
      filter: false,
      options: found.options.map(({ label, text, type }) => ({ label, apply: text, type, detail: type })),
    }
  }
}

/** Text typed over a selection. The browser would give it the look of the selection in a style attribute, which the policy refuses. */
const overSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType } = event
    const { from, to, empty } = view.state.selection.main
    if (empty || inputType !== 'insertText' || data === null || view.composing) return false
    const insert = (): Transaction => view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type' })
    const isHandled = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert))
    if (!isHandled) view.dispatch(insert())
    event.preventDefault()
    return true
  },
})

const setMistake = StateEffect.define<number | undefined>()

const mistakes = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { effects, changes, newDoc }) {
    const effect = effects.find((one) => one.is(setMistake))
    if (effect === undefined) return marks.map(changes)
    const at = effect.value
    if (at === undefined || newDoc.length === 0) return Decoration.none
    // An error at the end of the text is marked at its last character.
    const from = Math.min(at, newDoc.length - 1)
    const word = /^(?:\w+|.)/su.exec(newDoc.sliceString(from, from + 40))?.[0] ?? ' '
    return Decoration.set([Decoration.mark({ class: 'mistake' }).range(from, from + word.length)])
  },
  provide: (field) => EditorView.decorations.from(field),
})

const theme = EditorView.theme({
  '&': {
    background: 'var(--ground)',
    border: '1px solid var(--control-line)',
    borderRadius: 'var(--radius)',
    color: 'var(--text)',
    fontSize: '13px',
    maxHeight: 'var(--editor-height, 40vh)',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)', padding: '5px 0' },
  '.cm-placeholder': { color: 'var(--text-2)' },
  '&.cm-focused .cm-matchingBracket': { background: 'var(--accent-ground)', color: 'inherit' },
  '.mistake': { textDecoration: 'underline wavy var(--bad)', textUnderlineOffset: '3px' },
  '.cm-tooltip': { background: 'var(--ground)', border: '1px solid var(--line)', boxShadow: 'var(--shadow)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--accent-ground)', color: 'var(--text)' },
  '.cm-completionDetail': { color: 'var(--text-2)', fontStyle: 'normal', marginLeft: '1.5em' },
})
