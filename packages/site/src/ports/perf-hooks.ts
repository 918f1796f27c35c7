/** `createHistogram` for a browser, in steps of about one per cent: latencies of calls for the overview. */
const stepsOfTwo = 70

export interface RecordableHistogram {
  record(value: number): void
  percentile(percent: number): number
}

export function createHistogram(): RecordableHistogram {
  const counts: number[] = []
  let count = 0
  return {
    record(value) {
      const step = Math.round(Math.log2(value) * stepsOfTwo)
      counts[step] = (counts[step] ?? 0) + 1
      count++
    },
    percentile(percent) {
      let left = Math.max(1, Math.ceil((count * percent) / 100))
      for (const [step, found = 0] of counts.entries()) {
        left -= found
        if (left <= 0) return Math.round(2 ** (step / stepsOfTwo))
      }
      return 0
    },
  }
}
