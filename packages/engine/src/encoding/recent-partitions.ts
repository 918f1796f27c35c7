/**
 * A cache of recently used partitions with their codes. Most processes use a handful of partitions.
 *
 * Keys that are decoded while their partition is cached share one partition object, so that comparing two is cheap.
 */
import type { PartitionId } from '../model/key.ts'
import { encodeText } from './ordered.ts'

export interface RecentPartition {
  readonly partition: PartitionId
  readonly code: string
  /** Whether validate-key.ts found its names valid. */
  isValid: boolean
}

const recent: RecentPartition[] = []
const recentMax = 8
/** Valid names are shorter; invalid ones can be as long as a request and are not kept. */
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
