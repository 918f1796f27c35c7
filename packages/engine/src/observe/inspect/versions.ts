/** The versions of an entity as a report, from its log records. */
import { prettyTimestamp } from '../../encoding/pretty.ts'
import type { EntityImage } from '../../model/entity.ts'
import type { LogRecordReport, VersionReport } from './reports.ts'

/** The state of an entity after a commit. */
export interface LoggedImage {
  readonly version: bigint
  /** `undefined` = the commit deleted it. */
  readonly image: EntityImage | undefined
  readonly state: LogRecordReport['state']
}

/** @param images - oldest first. @param oldestReadable - microseconds */
export function versionsOf(images: readonly LoggedImage[], oldestReadable: bigint): readonly VersionReport[] {
  return images.map(({ version, image, state }, i): VersionReport => {
    const next = images[i + 1]
    const lastMoment = next === undefined ? undefined : next.version - 1n
    return {
      version: version.toString(),
      committedAt: prettyTimestamp(version),
      operation: image === undefined ? 'delete' : 'put',
      state,
      ...(lastMoment === undefined ? {} : { readTime: prettyTimestamp(lastMoment) }),
      readable: lastMoment === undefined || lastMoment >= oldestReadable,
    }
  })
}
