/** Judges the reader's program, in a worker of this browser that ends with the judgement: nothing of it runs on the server. */
import type { PageJudgement } from '@sixtables/bench'
import { useEffect, useRef, useState } from 'preact/hooks'

export interface Judging {
  /** The part that is done, 0 to 1; absent when no program is judged. */
  readonly share?: number
  readonly judgement?: PageJudgement
  /** The judge itself failed. */
  readonly error?: Error
  /** The end of what the program printed. */
  readonly printed: string
}

interface FromJudge {
  readonly progress?: { readonly share: number }
  readonly printed?: string
  readonly answer?: PageJudgement
  readonly refused?: string
}

const printedMax = 16_384
const nothing: Judging = { printed: '' }

export interface Judge extends Judging {
  readonly start: (program: string) => void
  readonly cancel: () => void
}

/** @param file - the address of the judge's worker */
export function useJudge(file: string, challenge: string): Judge {
  const [judging, setJudging] = useState<Judging>(nothing)
  const worker = useRef<Worker | undefined>(undefined)
  const end = (): void => {
    worker.current?.terminate()
    worker.current = undefined
  }
  useEffect(() => end, [])
  const start = (program: string): void => {
    end()
    setJudging({ ...nothing, share: 0 })
    const judge = new Worker(file, { type: 'module' })
    worker.current = judge
    const ended = (outcome: Pick<Judging, 'judgement' | 'error'>): void => {
      setJudging(({ printed }) => ({ printed, ...outcome }))
      end()
    }
    judge.onmessage = ({ data: { progress, printed = '', answer, refused } }: MessageEvent<FromJudge>) => {
      if (answer !== undefined) ended({ judgement: answer })
      else if (refused !== undefined) ended({ error: new Error(refused) })
      else setJudging((now) => ({ ...now, ...progress, printed: (now.printed + printed).slice(-printedMax) }))
    }
    judge.onerror = ({ message }) => ended({ error: new Error(message || 'the judge could not be loaded') })
    judge.postMessage({ task: { challenge, program } })
  }
  const cancel = (): void => {
    end()
    setJudging(nothing)
  }
  return { ...judging, start, cancel }
}
