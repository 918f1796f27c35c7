/**
 * The log and the six tables, filled by the store's events one after the other, slowly enough to be followed.
 *
 *   {commit} ─▶ the log         {apply, milestone A} ─▶ Entities         {apply, milestone B} ─▶ the index tables
 */
import type { ReloadReport, RowChangeReport, StoreEvent } from '@sixtables/engine'

const tableNames = [
  'Entities',
  'EntitiesByKind',
  'EntitiesByPropertyAsc',
  'EntitiesByPropertyDesc',
  'EntitiesByCompositeProperty',
  'IdSequences',
]
const stepMs = 350
/** With more events than this the page shows them without a pause. */
const waitingMax = 8
/** The newest records, and the first rows of a table. */
const shownMax = 40

interface Shown {
  readonly list: HTMLElement
  readonly rows: Map<string, HTMLElement>
}

export class Steps {
  readonly #log: HTMLElement
  readonly #tables: ReadonlyMap<string, Shown>
  readonly #waiting: StoreEvent[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Number of commits since the store was empty. */
  count = 0

  constructor(root: HTMLElement) {
    const section = (name: string): HTMLElement => {
      const list = element('ol', 'mono small breaks')
      root.append(element('section', 'panel', element('h2', 'mb-2', name), list))
      return list
    }
    this.#log = section('Log')
    this.#tables = new Map(tableNames.map((name) => [name, { list: section(name), rows: new Map() }]))
  }

  add(event: StoreEvent): void {
    this.#waiting.push(event)
    if (this.#timer === undefined) this.#next()
  }

  #next(): void {
    const event = this.#waiting.shift()
    this.#timer =
      event === undefined ? undefined : setTimeout(() => this.#next(), this.#waiting.length > waitingMax ? 0 : stepMs)
    if (event === undefined) return
    if ('commit' in event) {
      this.count++
      const { version, changes } = event.commit
      const words = changes.map(({ operation, key }) => `${operation} ${key}`).join(', ')
      this.#log.prepend(element('li', 'new', `${version}  ${words}`))
      if (this.#log.childElementCount > shownMax) this.#log.lastElementChild?.remove()
      this.#show(event.commit.rows)
    } else if ('apply' in event) this.#show(event.apply.rows)
    else if ('reload' in event) this.#reload(event.reload)
  }

  #reload({ reason, ...scope }: ReloadReport): void {
    if (reason !== 'reset' && reason !== 'restore') return
    // A snapshot, and what is outside of the scope, would be lost with the tab.
    if (reason === 'reset' && Object.keys(scope).length === 0) this.count = 0
    this.#log.replaceChildren()
    for (const { list, rows } of this.#tables.values()) {
      list.replaceChildren()
      rows.clear()
    }
  }

  #show(changes: readonly RowChangeReport[]): void {
    for (const { table, row, rowKey, deleted } of changes) {
      const shown = this.#tables.get(table)
      if (shown === undefined) continue
      const { list, rows } = shown
      rows.get(rowKey)?.remove()
      rows.delete(rowKey)
      if (deleted === true || rows.size >= shownMax) continue
      const next = [...rows.keys()].filter((key) => key > rowKey).sort()[0]
      // Entities(demo, ToDo:1): the heading names the table.
      const made = element('li', 'new', row.slice(table.length + 1, -1))
      list.insertBefore(made, next === undefined ? null : (rows.get(next) ?? null))
      rows.set(rowKey, made)
    }
  }
}

export function element(tag: string, style: string, ...inside: (string | Node)[]): HTMLElement {
  const made = document.createElement(tag)
  made.className = style
  made.append(...inside)
  return made
}
