/** Results as JSON: an object for one lab, an array for several. Two runs with the same seed give the same bytes. */
import type { LabResult } from '../runner.ts'

export function jsonReport(results: readonly LabResult[]): string {
  return `${JSON.stringify(results.length === 1 ? results[0] : results, null, 1)}\n`
}
