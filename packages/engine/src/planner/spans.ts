/**
 * Sets of code ranges: which values of one column, or which paths, a query still allows.
 *
 * A bound is compared with the *rest* of a position from the column on (value codes, then path), never with a value cut
 * out of it. This works because codes are prefix-free and no code starts with FF:
 *
 *   code          sorts directly before everything that starts with it
 *   code FF       sorts directly after everything that starts with it
 *   (empty), FF   before and after everything
 *
 * S1  The spans of a list are ascending, disjoint and not empty.
 * S2  A descending column is coded inverted, so its spans are those of the inverted codes.
 */

/** Rests from `lower` (inclusive) to `upper` (exclusive). */
export interface Span {
  readonly lower: string
  readonly upper: string
}

export type SpanOperator = 'lessThan' | 'lessThanOrEqual' | 'greaterThan' | 'greaterThanOrEqual' | 'equal' | 'notEqual'

/** The byte after all codes. */
export const codesEnd = '\xff'

export const everything: readonly Span[] = [{ lower: '', upper: codesEnd }]

const opposite: Readonly<Record<SpanOperator, SpanOperator>> = {
  lessThan: 'greaterThan',
  lessThanOrEqual: 'greaterThanOrEqual',
  greaterThan: 'lessThan',
  greaterThanOrEqual: 'lessThanOrEqual',
  equal: 'equal',
  notEqual: 'notEqual',
}

/**
 * The values that `operator code` allows.
 *
 * @param code - as it stands in the column: already inverted when `inverted`
 */
export function spansOf(operator: SpanOperator, code: string, inverted: boolean): readonly Span[] {
  const after = code + codesEnd
  switch (inverted ? opposite[operator] : operator) {
    case 'lessThan':
      return [{ lower: '', upper: code }]
    case 'lessThanOrEqual':
      return [{ lower: '', upper: after }]
    case 'greaterThan':
      return [{ lower: after, upper: codesEnd }]
    case 'greaterThanOrEqual':
      return [{ lower: code, upper: codesEnd }]
    case 'equal':
      return [{ lower: code, upper: after }]
    case 'notEqual':
      return [
        { lower: '', upper: code },
        { lower: after, upper: codesEnd },
      ]
  }
}

/** Just the given codes, in any order and with repetitions. */
export function pointSpans(codes: readonly string[]): readonly Span[] {
  return [...new Set(codes)].sort().map((code) => ({ lower: code, upper: code + codesEnd }))
}

/** Everything that starts with `code`. */
export function prefixSpans(code: string): readonly Span[] {
  return [{ lower: code, upper: code + codesEnd }]
}

/** The intersection of two lists; empty when nothing is left. */
export function intersectSpans(a: readonly Span[], b: readonly Span[]): readonly Span[] {
  const shared: Span[] = []
  let i = 0
  let j = 0
  for (;;) {
    const x = a[i]
    const y = b[j]
    if (x === undefined || y === undefined) return shared
    const [, lower] = inOrder(x.lower, y.lower)
    const [upper] = inOrder(x.upper, y.upper)
    if (lower < upper) shared.push({ lower, upper })
    if (upper === x.upper) i++
    else j++
  }
}

function inOrder(a: string, b: string): readonly [string, string] {
  return a < b ? [a, b] : [b, a]
}

/** Whether `rest`, a position from the column on, lies in one of the spans. */
export function inSpans(spans: readonly Span[], rest: string): boolean {
  for (const span of spans) {
    if (rest < span.lower) return false
    if (rest < span.upper) return true
  }
  return false
}
