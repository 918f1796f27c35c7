/**
 * Lists of code ranges: the values of one column, or the paths, that a query allows. Spans are ascending, disjoint and not
 * empty; those of a descending column are ranges of inverted codes.
 *
 * A bound is compared with the *rest* of a position from the column on (value codes, then path), so no value is cut out. This
 * works because codes are prefix-free and none starts with FF:
 *
 *   code          sorts directly before everything that starts with it
 *   code FF       sorts directly after everything that starts with it
 *   (empty), FF   before and after everything
 *
 * `priority > 5` is the span from <code of 5> FF to FF.
 */

/** Rests from `lower` (inclusive) to `upper` (exclusive). */
export interface Span {
  readonly lower: string
  readonly upper: string
}

export type SpanOperator = 'lessThan' | 'lessThanOrEqual' | 'greaterThan' | 'greaterThanOrEqual' | 'equal' | 'notEqual'

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

/** The values that `operator code` allows. @param code - as in the column: inverted if `inverted` */
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

/** Exactly the given codes and what begins with them; the codes are in any order and may repeat. */
export function pointSpans(codes: readonly string[]): readonly Span[] {
  return [...new Set(codes)].sort().map((code) => ({ lower: code, upper: code + codesEnd }))
}

export function intersectSpans(a: readonly Span[], b: readonly Span[]): readonly Span[] {
  const shared: Span[] = []
  let i = 0
  let j = 0
  for (;;) {
    const x = a[i]
    const y = b[j]
    if (x === undefined || y === undefined) return shared
    const { lower } = x.lower < y.lower ? y : x
    const { upper } = x.upper < y.upper ? x : y
    if (lower < upper) shared.push({ lower, upper })
    if (upper === x.upper) i++
    else j++
  }
}

/** @param rest - a position from the column on */
export function inSpans(spans: readonly Span[], rest: string): boolean {
  for (const span of spans) {
    if (rest < span.lower) return false
    if (rest < span.upper) return true
  }
  return false
}
