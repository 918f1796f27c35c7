/**
 * One page of a report: at least one item, and more up to about {@link pageCharsMax} characters. The next request continues
 * where the page ended. The page ends with the item that fills it, so a report needs no more memory than a page and an item.
 * Other calls run between two items, and between the changes of one record.
 */
import type { RequestContext } from '../../context.ts'
import { giveWay } from '../../slices.ts'

export const pageCharsMax: number = 4 * 1024 * 1024
/** Characters that take as long as reading a row. */
const charsOfWork = 64

export class ReportPage {
  #chars = 0
  readonly #context: RequestContext

  constructor(context: RequestContext) {
    this.#context = context
  }

  get isFull(): boolean {
    return this.#chars >= pageCharsMax
  }

  /** Counts words of the report; the caller awaits the promise. */
  add(...words: readonly string[]): Promise<void> | undefined {
    let chars = 0
    for (const { length } of words) chars += length
    this.#chars += chars
    return giveWay(this.#context, 1 + chars / charsOfWork)
  }
}
