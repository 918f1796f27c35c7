/** Lines that a replay prints beside its figures: findings compared, changes from pass to pass, and calls that were not played. */
import type { Finding } from '@sixtables/engine'
import type { Store } from '../sim/store.ts'
import type { Passes } from './passes.ts'
import { whyNotPlayed } from './played-call.ts'
import type { Recording } from './read-recording.ts'

/** The findings that an engine reported at any time, by kind and subject. */
export type FindingsSeen = Map<string, Finding>

export function noteFindings(store: Store, seen: FindingsSeen): void {
  for (const one of store.engine.findings()) seen.set(`${one.kind} ${one.subject}`, one)
}

/** Each finding with its share at the recording's own rate and in the replay. */
export function findingLines(recorded: FindingsSeen, replayed: FindingsSeen): readonly string[] {
  const all = new Map([...recorded, ...replayed])
  if (all.size === 0) return ['none, neither of the recording nor of the replay']
  const names = [...all.values()].map(({ kind, subject }) => `${kind}  ${subject}`)
  const widest = Math.max(...names.map(({ length }) => length))
  const cell = (one: Finding | undefined, width: number): string =>
    (one === undefined ? '–' : `${Math.round(one.share * 100)} %`).padStart(width)
  const head = `${''.padEnd(widest)}   recording   replay`
  return [
    head,
    ...[...all].flatMap(([name, { words, lab }], i) => [
      `${(names[i] ?? '').padEnd(widest)}   ${cell(recorded.get(name), 9)}   ${cell(replayed.get(name), 6)}`,
      `  ${words}`,
      `  see the lab ${lab}`,
    ]),
  ]
}

/** @param passes - how often the recording is played */
export function passLines(passes: Passes, count: number): readonly string[] {
  if (count <= 1) return ['none: the recording is longer than the replay']
  const lines = passes.words(count)
  return lines.length === 0 ? ['each pass is the same: the recording writes no entities'] : lines
}

/** The reasons why calls were not played, the most frequent first. */
export function notPlayedLines({ calls, lost }: Recording): readonly string[] {
  const counts = new Map<string, number>()
  const add = (reason: string, count: number): void => {
    if (count > 0) counts.set(reason, (counts.get(reason) ?? 0) + count)
  }
  for (const call of calls) {
    const reason = whyNotPlayed(call)
    if (reason !== undefined) add(reason, 1)
  }
  add('lost: they came faster than the recorder could write them', lost)
  return [...counts].sort((a, b) => b[1] - a[1]).map(([reason, count]) => `${count} × ${reason}`)
}
