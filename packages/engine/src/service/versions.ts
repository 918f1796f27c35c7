/** The versions of an entity as a report, from what the log keeps of it. */
import type { EntityImage } from '../model/entity.ts'
import type { LogRecordReport, VersionReport } from './reports.ts'

/** A state of an entity that a commit made. */
export interface LoggedImage {
  readonly version: bigint
  /** `undefined` = the commit deleted it. */
  readonly image: EntityImage | undefined
  readonly state: LogRecordReport['state']
}

/**
 * @param images - oldest first
 * @param oldestReadable - the oldest moment that may be read, microseconds
 */
export function versionsOf(images: readonly LoggedImage[], oldestReadable: bigint): readonly VersionReport[] {
  return images.map(({ version, image, state }, i): VersionReport => {
    const next = images[i + 1]
    const lastMoment = next === undefined ? undefined : next.version - 1n
    return {
      version: version.toString(),
      committedAt: instantOf(version),
      operation: image === undefined ? 'delete' : 'put',
      state,
      ...(lastMoment === undefined ? {} : { readTime: instantOf(lastMoment) }),
      readable: lastMoment === undefined || lastMoment >= oldestReadable,
    }
  })
}

/** `2026-11-21T10:00:00.123456Z` of microseconds since the epoch. */
function instantOf(micros: bigint): string {
  const seconds = new Date(Number(micros / 1000n)).toISOString().slice(0, 19)
  return `${seconds}.${String(micros % 1_000_000n).padStart(6, '0')}Z`
}
