/**
 * From a filter's conjunctions to disjuncts: what is equality, what is a range of a column, what is a range of keys.
 *
 * Inequalities on one property have to be satisfied by one value together, so they are one set of ranges; so is an IN or an
 * equality on a property that is a column, since its value decides the position. All other INs are multiplied out.
 */
import { invert } from '../encoding/bytes.ts'
import { type Atom, type Conjunction, compareNames, keyProperty } from './filters.ts'
import type { Column, Disjunct, Equality } from './normal-query.ts'
import { inSpans, intersectSpans, pointSpans, type Span, spansOf } from './spans.ts'

/** Whether the atom confines a property to ranges, and so makes it a column. */
export function isInequality(atom: Atom): boolean {
  return atom.operator !== 'equal' && atom.operator !== 'in' && atom.property !== keyProperty
}

/**
 * Makes sure that a property with an inequality has no IN beside it (it is multiplied out), and no equality that implies
 * the inequality (that is dropped). What stays, such as `p = 1 AND p > 2`, can match arrays only.
 */
export function separateEqualitiesFromInequalities(conjunctions: readonly Conjunction[]): readonly Conjunction[] {
  if (!conjunctions.some((conjunction) => conjunction.some(isInequality))) return conjunctions
  return conjunctions.flatMap((conjunction) => {
    const unequal = new Set(conjunction.filter(isInequality).map((atom) => atom.property))
    return multiplyOut(conjunction, (atom) => unequal.has(atom.property)).map(dropImplied)
  })
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

/** The conjunctions that arise when each chosen IN is replaced by its values in turn. */
function multiplyOut(conjunction: Conjunction, choose: (atom: Atom) => boolean): readonly Conjunction[] {
  const at = conjunction.findIndex((atom) => atom.operator === 'in' && choose(atom))
  const atom = conjunction[at]
  if (atom === undefined) return [conjunction]
  return atom.codes.flatMap((code) =>
    multiplyOut(conjunction.with(at, { property: atom.property, operator: 'equal', codes: [code] }), choose),
  )
}

/** The values that the inequalities on `property` allow together: one value has to satisfy all of them. */
function inequalitySpans(conjunction: Conjunction, property: string, inverted: boolean): readonly Span[] {
  let spans: readonly Span[] | undefined
  for (const atom of conjunction) {
    if (atom.property !== property || atom.operator === 'equal' || atom.operator === 'in') continue
    for (const code of atom.codes) {
      const operator = atom.operator === 'notIn' ? 'notEqual' : atom.operator
      const allowed = spansOf(operator, inverted ? invert(code) : code, inverted)
      spans = spans === undefined ? allowed : intersectSpans(spans, allowed)
    }
  }
  return spans ?? []
}

export interface OrderedColumns {
  readonly columns: readonly Column[]
  readonly lateColumns: readonly Column[]
  /** Whether each row of an entity is a result, as in a projection. */
  readonly everyRow: boolean
}

/** Adds the disjuncts of one conjunction; none when it cannot be satisfied. */
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
  equalities.sort((a, b) => compareNames(a.property, b.property) || compareNames(a.code, b.code))
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

/** Takes out of `equalities` what it expresses by ranges of the column. */
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
  // An entity stands at the first of its values. Where each row is a result, the choice is the same in both directions: a query
  // and its reverse have the same rows.
  const first = everyRow || column.direction === 'ascending' ? mine[0] : mine[mine.length - 1]
  if (first === undefined) return undefined
  equalities.splice(equalities.indexOf(first), 1)
  return pointSpans([inverted ? invert(first.code) : first.code])
}
