/** Tasks of the labs in workers of their own, beside the emulator's. */
import { DatastoreError, invalidArgument } from '@sixtables/engine'
import type { LabStarter } from '@sixtables/gateway/exchange'

interface Message {
  readonly progress?: { readonly arm: string; readonly share: number }
  readonly answer?: unknown
  readonly refused?: string
}

/** @param file - worker.ts, built */
export function labsIn(file: URL): LabStarter {
  return (task, onProgress) => {
    const worker = new Worker(file, { type: 'module' })
    let cancel = (): void => {}
    const done = new Promise<unknown>((resolve, reject) => {
      cancel = () => reject(new DatastoreError('CANCELLED', 'the lab was cancelled'))
      worker.onmessage = ({ data: { progress, answer, refused } }: MessageEvent<Message>) => {
        if (progress !== undefined) onProgress?.(progress)
        else if (refused !== undefined) reject(invalidArgument(refused))
        else resolve(answer)
      }
      worker.onerror = ({ message }) => reject(new DatastoreError('INTERNAL', `the lab broke off: ${message}`))
      worker.postMessage({ task })
    }).finally(() => worker.terminate())
    // Nothing may await a cancelled task.
    done.catch(() => {})
    return { done, cancel: async () => cancel() }
  }
}
