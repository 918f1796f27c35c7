/** The target of `check` and `inspect`: a running server or a closed folder. Both answer the same questions alike. */
import type { Parameters } from '../../admin/emulator/inspection.ts'

export interface Target {
  /**
   * @param onProgress - of a question that takes long: told now and then how many rows were looked at
   * @throws OperationError with the reason in words
   */
  ask(what: string, parameters: Parameters, onProgress?: (rows: number) => void): Promise<unknown>
  close(): Promise<void>
}
