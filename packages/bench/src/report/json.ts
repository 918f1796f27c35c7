/** Results as JSON: one lab gives an object, several an array; two runs of one seed give the same bytes. */
import type { LabResult } from '../runner.ts'

export function jsonReport(results: readonly LabResult[]): string {
  return `${JSON.stringify(results.length === 1 ? results[0] : results, null, 1)}\n`
}
