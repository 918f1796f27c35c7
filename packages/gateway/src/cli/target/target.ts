/** The target of `check` and `inspect`, a running server or a closed folder, with the same answers from both. */
import type { Parameters } from '../../admin/emulator/inspection.ts'

export interface Target {
  /**
   * @param onProgress - called at times with the number of rows read so far
   * @throws OperationError with the reason
   */
  ask(what: string, parameters: Parameters, onProgress?: (rows: number) => void): Promise<unknown>
  close(): Promise<void>
}
