/** The latest events of tablets, numbered 1, 2, 3, … so that a reader can continue after the last one. */
import type { TabletEvent } from './report.ts'

export class EventLog {
  #events: TabletEvent[] = []
  #sequence = 0

  add(event: Omit<TabletEvent, 'sequence'>, most: number): void {
    this.#sequence++
    this.#events.push({ sequence: this.#sequence, ...event })
    if (this.#events.length > most * 1.25) this.#events = this.#events.slice(-most)
  }

  after(sequence: number): readonly TabletEvent[] {
    return this.#events.filter((event) => event.sequence > sequence)
  }

  since(atMs: number): readonly TabletEvent[] {
    return this.#events.filter((event) => event.atMs >= atMs)
  }
}
