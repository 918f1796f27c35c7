/**
 * The partitions that were named last, each with what is asked of it for every key: a process mostly speaks of a handful.
 *
 * One object stands for a partition as long as it is here, so that equal partitions are mostly the same object.
 */
import type { PartitionId } from '../model/key.ts'
import { encodeText } from './ordered.ts'

export interface RecentPartition {
  readonly partition: PartitionId
  /** text(project) text(database) text(namespace) */
  readonly code: string
  /** Whether its names were found valid (validate-key.ts). */
  isValid: boolean
}

const recent: RecentPartition[] = []
const recentMax = 8
/** Valid names are shorter; others can be as long as a request. */
const keptCodeMax = 1000
let oldest = 0

export function recentPartition(projectId: string, databaseId: string, namespaceId: string): RecentPartition {
  for (const one of recent) {
    const { partition } = one
    if (
      partition.projectId === projectId &&
      partition.namespaceId === namespaceId &&
      partition.databaseId === databaseId
    ) {
      return one
    }
  }
  const code = encodeText(projectId) + encodeText(databaseId) + encodeText(namespaceId)
  const made = { partition: { projectId, databaseId, namespaceId }, code, isValid: false }
  if (code.length > keptCodeMax) return made
  recent[oldest] = made
  oldest = (oldest + 1) % recentMax
  return made
}
