/**
 * One page of a report: items up to about {@link pageCharsMax} characters, and at least one. What is left out is asked for by where the page
 * ended.
 *
 * RP1  A page ends with the first item that fills it, so a report takes no more memory than a page and an item.     report-pages.test.ts
 * RP2  Between two items, and between the changes of one record, others have their turn.                            same
 */
import type { RequestContext } from '../../context.ts'
import { giveWay } from '../../slices.ts'

export const pageCharsMax: number = 4 * 1024 * 1024
/** So many characters take as long as a row that is read. */
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

  /** Counts words that the report has; to be waited for. */
  add(...words: readonly string[]): Promise<void> | undefined {
    let chars = 0
    for (const { length } of words) chars += length
    this.#chars += chars
    return giveWay(this.#context, 1 + chars / charsOfWork)
  }
}
