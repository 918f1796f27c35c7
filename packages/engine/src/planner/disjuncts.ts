/**
 * Turns the conjunctions of a filter into disjuncts: equalities, ranges of columns, ranges of keys.
 *
 * One value must satisfy all inequalities on a property, so they become one set of ranges: `p > 1 AND p < 5` is the range 1 …
 * 5 of p. An IN or an equality on a property that is a column becomes ranges too, since its value decides the position. All
 * other INs are multiplied out: `a IN [1, 2] AND b = 3` is two disjuncts.
 */
import { compareTexts, invert } from '../encoding/bytes.ts'
import { type Atom, type Conjunction, type FilterTerms, keyProperty } from './filters.ts'
import type { Column, Disjunct, Equality, NormalQuery } from './normal-query.ts'
import { everything, inSpans, intersectSpans, pointSpans, type Span, spansOf } from './spans.ts'

/** Whether the atom limits a property to ranges, and so makes it a column. */
export function isInequality(atom: Atom): boolean {
  return atom.operator !== 'equal' && atom.operator !== 'in' && atom.property !== keyProperty
}

/**
 * Multiplies out INs on properties with an inequality, and drops inequalities that an equality implies: `p = 3 AND p > 2` is `p = 3`. The
 * rest, such as `p = 1 AND p > 2`, can only match arrays.
 */
export function separateEqualitiesFromInequalities(conjunctions: readonly Conjunction[]): FilterTerms {
  const reduced = conjunctions.flatMap((conjunction) => {
    const unequal = new Set(conjunction.filter(isInequality).map((atom) => atom.property))
    return multiplyOut(conjunction, (atom) => unequal.has(atom.property)).map(dropImplied)
  })
  const unequal = new Set(
    reduced.flatMap((conjunction) => conjunction.filter(isInequality).map((atom) => atom.property)),
  )
  return { conjunctions: reduced, unequal: [...unequal] }
}

function dropImplied(conjunction: Conjunction): Conjunction {
  const implied = (atom: Atom) =>
    isInequality(atom) &&
    conjunction.some(
      (other) =>
        other.operator === 'equal' &&
        other.property === atom.property &&
        inSpans(inequalitySpans(conjunction, atom.property, false), other.codes[0] as string),
    )
  return conjunction.some(implied) ? conjunction.filter((atom) => !implied(atom)) : conjunction
}

function multiplyOut(conjunction: Conjunction, choose: (atom: Atom) => boolean): readonly Conjunction[] {
  const at = conjunction.findIndex((atom) => atom.operator === 'in' && choose(atom))
  const atom = conjunction[at]
  if (atom === undefined) return [conjunction]
  return atom.codes.flatMap((code) =>
    multiplyOut(conjunction.with(at, { property: atom.property, operator: 'equal', codes: [code] }), choose),
  )
}

/** The values that satisfy all inequalities on `property`. */
function inequalitySpans(conjunction: Conjunction, property: string, inverted: boolean): readonly Span[] {
  let spans = everything
  for (const atom of conjunction) {
    if (atom.property !== property || atom.operator === 'equal' || atom.operator === 'in') continue
    for (const code of atom.codes) {
      const operator = atom.operator === 'notIn' ? 'notEqual' : atom.operator
      spans = intersectSpans(spans, spansOf(operator, inverted ? invert(code) : code, inverted))
    }
  }
  return spans
}

type OrderedColumns = Pick<NormalQuery, 'columns' | 'lateColumns' | 'everyRow'>

/** Adds the disjuncts of one conjunction; none if it contradicts itself. */
export function addDisjuncts(conjunction: Conjunction, ordering: OrderedColumns, disjuncts: Disjunct[]): void {
  const asSpans = (atom: Atom) =>
    [...ordering.columns, ...ordering.lateColumns].some((column) => column.property === atom.property) &&
    !conjunction.some((other) => other !== atom && other.property === atom.property)
  for (const each of multiplyOut(conjunction, (atom) => atom.property !== keyProperty && !asSpans(atom))) {
    const disjunct = disjunctOf(each, ordering)
    if (disjunct !== undefined) disjuncts.push(disjunct)
  }
}

function disjunctOf(conjunction: Conjunction, ordering: OrderedColumns): Disjunct | undefined {
  const equalities: Equality[] = []
  let pathSpans: readonly Span[] | undefined
  for (const atom of conjunction) {
    if (atom.property === keyProperty) {
      const allowed = keySpans(atom)
      pathSpans = pathSpans === undefined ? allowed : intersectSpans(pathSpans, allowed)
    } else if (atom.operator === 'equal') {
      const code = atom.codes[0] as string
      if (!equalities.some((e) => e.property === atom.property && e.code === code)) {
        equalities.push({ property: atom.property, code })
      }
    }
  }
  equalities.sort((a, b) => compareTexts(a.property, b.property) || compareTexts(a.code, b.code))
  const spansIn = (column: Column) => spansOfColumn(column, conjunction, equalities, ordering.everyRow)
  const columnSpans = ordering.columns.map(spansIn)
  const lateSpans = ordering.lateColumns.map(spansIn)
  if (pathSpans?.length === 0 || [...columnSpans, ...lateSpans].some((spans) => spans?.length === 0)) return undefined
  return { equalities, columnSpans, lateSpans, pathSpans }
}

function keySpans(atom: Atom): readonly Span[] {
  if (atom.operator === 'in') return pointSpans(atom.codes)
  return atom.codes
    .map((code) => spansOf(atom.operator === 'notIn' ? 'notEqual' : (atom.operator as 'equal'), code, false))
    .reduce(intersectSpans)
}

/** The ranges of a column. Removes the equality that they express from `equalities`. */
function spansOfColumn(
  column: Column,
  conjunction: Conjunction,
  equalities: Equality[],
  everyRow: boolean,
): readonly Span[] | undefined {
  const { property, inverted } = column
  if (conjunction.some((atom) => atom.property === property && isInequality(atom))) {
    return inequalitySpans(conjunction, property, inverted)
  }
  const among = conjunction.find((atom) => atom.property === property && atom.operator === 'in')
  if (among !== undefined) return pointSpans(inverted ? among.codes.map(invert) : among.codes)
  const mine = equalities.filter((equality) => equality.property === property)
  // An entity is at the first of its values. If each row is a result, the choice must not depend on the direction: a query
  // and its reverse have the same rows.
  const first = everyRow || column.direction === 'ascending' ? mine[0] : mine[mine.length - 1]
  if (first === undefined) return undefined
  equalities.splice(equalities.indexOf(first), 1)
  return pointSpans([inverted ? invert(first.code) : first.code])
}
