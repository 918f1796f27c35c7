/**
 * Patterns in the reports of the tablets, which see every row.
 *
 *   scan-over-tombstones   a scan passes more deleted rows than it finds
 *   hot-entity-group       a group's commits wait or conflict half as often as they succeed
 */
import type { GroupReport, WadingTablet } from '../tablets/report.ts'
import { percent } from '../tablets/split-policy.ts'
import type { Sighting } from './sighting.ts'

const troubleShareMin = 1 / 3
/** Events per second over the window of the report; below this, no pattern can be told. */
const troubleMin = 0.2

export function* tabletSightings(
  tablets: readonly WadingTablet[],
  groups: readonly GroupReport[],
  nowMs: number,
): Iterable<Sighting> {
  for (const { table, start, end, startHex, endHex, wading } of tablets) {
    const { scans, rows, tombstones } = wading
    const share = tombstones / (tombstones + rows)
    const range = `${table} from ${start || 'its start'} to ${end || 'its end'}`
    yield {
      kind: 'scan-over-tombstones',
      subject: range,
      words: `Queries over ${range} go over deleted rows: they stay until a major compaction.`,
      evidence: [
        `the latest went over ${Math.round(tombstones)} deleted rows for ${Math.round(rows)} that it found (${percent(share)})`,
      ],
      share,
      count: scans,
      place: { table, startHex, endHex },
    }
  }
  for (const { group, logHex, commitsPerSecond, conflictsPerSecond, waitsPerSecond } of groups) {
    const trouble = conflictsPerSecond + waitsPerSecond
    const share = trouble / (commitsPerSecond + trouble)
    if (trouble < troubleMin || share < troubleShareMin) continue
    yield {
      kind: 'hot-entity-group',
      subject: group,
      words: `Writers of the entity group ${group} stand in each other's way.`,
      evidence: [
        `${commitsPerSecond.toFixed(1)} commits/s, ${conflictsPerSecond.toFixed(1)} conflicts/s, ${waitsPerSecond.toFixed(1)} waits/s`,
      ],
      share,
      count: nowMs,
      place: { table: 'Log', startHex: logHex, endHex: `${logHex}ff` },
    }
  }
}
