/**
 * GQL (docs/reference/gql.md): from text and bindings to the engine's query.
 *
 *   GqlQuery ─▶ tokens ─▶ tree ─▶ bound to values and cursors ─▶ Query, or a query with aggregations
 *
 * `LIMIT @n` with n = 5 becomes a limit of 5. Each binding site must have its parameter, and each numbered parameter its site; named parameters
 * may be unused. The planner decides which queries are valid: here only those are refused that the engine's form cannot express, such as a limit
 * that is no integer.
 *
 * Known: names match [A-Za-z_$][A-Za-z_$0-9]*, and not __.*__ (the API's description of GqlQuery).
 *
 * Measured: the refusals; CONTAINS and IN with an array are IN, with another value EQUAL; a limit or offset is bound to an integer or, at
 * the place of the cursor, to a cursor; key literals without a partition are in that of the query.
 */
import {
  type Aggregation,
  decodeValue,
  type Filter,
  invalidArgument,
  type Key,
  type PartitionId,
  type PropertyOperator,
  type Query,
  type Value,
} from '@sixtables/engine'
import type { GqlQueryParameter, GqlQuery as WireGqlQuery } from '#gen/wire.js'
import { parseGql } from './parse.ts'
import { printSite } from './print.ts'
import type {
  BindingSite,
  ComparisonOperator,
  Condition,
  KeyLiteral,
  Operand,
  ResultPosition,
  SelectStatement,
  Statement,
} from './syntax.ts'
import type { ParseOptions } from './token-stream.ts'
import { GqlError, quote } from './tokens.ts'

export function gqlOfText(queryString: string): WireGqlQuery {
  return { queryString, allowLiterals: true, namedBindings: {}, positionalBindings: [] }
}

/** The query of a RunQuery. @throws INVALID_ARGUMENT for a wrong text, a missing binding, or an aggregation */
export function gqlQueryOf(gql: WireGqlQuery, partition: PartitionId): Query {
  return bound(gql, partition, (statement, binder) => {
    if (statement.type === 'select') return binder.query(statement)
    throw invalidArgument('GQL: this query aggregates: send it with RunAggregationQuery')
  })
}

export function gqlAggregationOf(gql: WireGqlQuery, partition: PartitionId): BoundAggregation {
  return bound(gql, partition, (statement, binder) => {
    if (statement.type === 'aggregate') {
      return { query: binder.query(statement.over), aggregations: statement.aggregations }
    }
    throw invalidArgument('GQL: this query aggregates nothing: send it with RunQuery, or write SELECT COUNT(*) …')
  })
}

export function parsedGql(text: string, options: ParseOptions): Statement {
  try {
    return parseGql(text, options)
  } catch (error) {
    throw error instanceof GqlError ? invalidArgument(error.message) : error
  }
}

function bound<T>(gql: WireGqlQuery, partition: PartitionId, bind: (statement: Statement, binder: Binder) => T): T {
  const binder = new Binder(gql, partition)
  const query = bind(parsedGql(gql.queryString, gql), binder)
  binder.checkAllUsed()
  return query
}

const limitMax = 2n ** 31n - 1n

/** Maximum number of bindings listed in a message. */
const shownMax = 20

const operators: Readonly<Record<Exclude<ComparisonOperator, 'IN'>, PropertyOperator>> = {
  '=': 'equal',
  '!=': 'notEqual',
  '<': 'lessThan',
  '<=': 'lessThanOrEqual',
  '>': 'greaterThan',
  '>=': 'greaterThanOrEqual',
  'NOT IN': 'notIn',
  'HAS ANCESTOR': 'hasAncestor',
}

export interface BoundAggregation {
  readonly query: Query
  readonly aggregations: readonly Aggregation[]
}

export class Binder {
  readonly #named: Readonly<Record<string, GqlQueryParameter>>
  readonly #positional: readonly GqlQueryParameter[]
  readonly #used = new Set<number>()
  readonly #partition: PartitionId

  /** @throws INVALID_ARGUMENT for impossible names and for empty parameters */
  constructor({ namedBindings, positionalBindings }: WireGqlQuery, partition: PartitionId) {
    this.#named = namedBindings
    this.#positional = positionalBindings
    this.#partition = partition
    for (const [name, parameter] of Object.entries(namedBindings)) {
      checkName(name)
      checkParameter(parameter, `@${name}`)
    }
    for (const [i, parameter] of positionalBindings.entries()) checkParameter(parameter, `@${i + 1}`)
  }

  checkAllUsed(): void {
    for (let number = 1; number <= this.#positional.length; number++) {
      if (!this.#used.has(number)) {
        throw invalidArgument(
          `GQL: the positional binding ${number} is not used: write @${number} or leave it out`,
          `Unused positional binding: ${number}.`,
        )
      }
    }
  }

  query(statement: SelectStatement): Query {
    const { fields, distinct, kind, where, order } = statement
    const window = { ...this.#limit(statement.limit), ...this.#offset(statement.offset) }
    return {
      partition: this.#partition,
      kind,
      projection: fields,
      filter: where === undefined ? undefined : this.#filter(where),
      order,
      distinctOn: distinct === true ? fields : distinct === false ? [] : distinct,
      offset: 0,
      ...window,
    }
  }

  #filter(condition: Condition): Filter {
    if (condition.type !== 'comparison') {
      const filters = condition.conditions.map((part) => this.#filter(part))
      return { type: 'composite', operator: condition.type, filters }
    }
    const { property, operator } = condition
    const value = this.#value(condition.operand, property)
    if (operator !== 'IN') return { type: 'property', property, operator: operators[operator], value }
    return { type: 'property', property, operator: value.type === 'array' ? 'in' : 'equal', value }
  }

  #value(operand: Operand, property: string): Value {
    switch (operand.type) {
      case 'binding': {
        const { value } = this.#bound(operand)
        if (value !== null) return decodeValue(value, this.#partition, property)
        throw invalidArgument(`GQL: ${printSite(operand)} stands for a value, but a cursor is bound to it`)
      }
      case 'arrayLiteral':
        return { type: 'array', values: operand.values.map((value) => this.#value(value, property)) }
      case 'keyLiteral':
        return { type: 'key', key: this.#key(operand) }
      default:
        return operand
    }
  }

  /** A partition with only some parts takes its project, and then its database, from the query; never its namespace. */
  #key({ partition, path }: KeyLiteral): Key {
    const query = this.#partition
    const elements = path.map(({ kind, idOrName }) =>
      typeof idOrName === 'bigint' ? { kind, id: idOrName } : { kind, name: idOrName },
    )
    if (partition === undefined) return { partition: query, path: elements }
    const projectId = partition.projectId || query.projectId
    const databaseId = partition.databaseId || (projectId === query.projectId ? query.databaseId : '')
    return { partition: { projectId, databaseId, namespaceId: partition.namespaceId }, path: elements }
  }

  #limit(positions: readonly ResultPosition[]): Partial<Query> {
    const [first, second] = positions
    if (first === undefined) return {}
    if (second === undefined) return this.#countOrCursor(first, 'limit', 'endCursor')
    // The two arguments of FIRST, a cursor and a count, may be in any order.
    const cursorFirst = this.#isCursor(first)
    if (cursorFirst === this.#isCursor(second)) {
      throw invalidArgument(`GQL: LIMIT FIRST(…, …) takes one cursor and one integer, but was given two of a kind`)
    }
    return {
      endCursor: this.#cursor(cursorFirst ? first : second),
      limit: this.#count(cursorFirst ? second : first, 'limit'),
    }
  }

  #offset(positions: readonly ResultPosition[]): Partial<Query> {
    const [first, second] = positions
    if (first === undefined) return {}
    if (second === undefined) return this.#countOrCursor(first, 'offset', 'startCursor')
    if (!this.#isCursor(first)) {
      throw invalidArgument('GQL: OFFSET … + … takes a cursor before the +, but an integer stands there')
    }
    return { startCursor: this.#cursor(first), offset: this.#count(second, 'offset') }
  }

  #countOrCursor(
    position: ResultPosition,
    count: 'limit' | 'offset',
    cursor: 'startCursor' | 'endCursor',
  ): Partial<Query> {
    if (this.#isCursor(position)) return { [cursor]: this.#cursor(position) }
    return { [count]: this.#count(position, count) }
  }

  #isCursor(position: ResultPosition): position is BindingSite {
    return position.type === 'binding' && this.#bound(position).value === null
  }

  #cursor(position: ResultPosition): Uint8Array | undefined {
    const cursor = position.type === 'binding' ? this.#bound(position).cursor : null
    return cursor === null || cursor.length === 0 ? undefined : cursor
  }

  #count(position: ResultPosition, what: 'limit' | 'offset'): number {
    const value = position.type === 'count' ? position.value : this.#boundInteger(position, what)
    if (value < 0n) throw invalidArgument(`GQL: the ${what} is ${value}; it must not be negative`)
    if (value > limitMax) throw invalidArgument(`GQL: the ${what} is ${value}; at most ${limitMax} is allowed`)
    return Number(value)
  }

  #boundInteger(site: BindingSite, what: string): bigint {
    const { value: encoded } = this.#bound(site)
    const value = encoded === null ? undefined : decodeValue(encoded, this.#partition)
    if (value?.type === 'integer') return value.value
    throw invalidArgument(
      `GQL: ${printSite(site)} stands for the ${what}, an integer, but ${value === undefined ? 'a cursor' : `a ${value.type}`} is bound to it`,
    )
  }

  /** The parameter of a site: either its value or its cursor is not null. */
  #bound(of: BindingSite): GqlQueryParameter {
    const { site } = of
    const isNumber = typeof site === 'number'
    const parameter = isNumber ? this.#positional[site - 1] : Object.hasOwn(this.#named, site) && this.#named[site]
    if (parameter) {
      if (isNumber) this.#used.add(site)
      return parameter
    }
    throw invalidArgument(
      `GQL: ${printSite(of)} is not bound; the query is given ${this.#words()}`,
      `Absent ${isNumber ? 'positional' : 'named'} binding: ${site}.`,
    )
  }

  #words(): string {
    const names = [...Object.keys(this.#named), ...this.#positional.keys()].map((name) =>
      typeof name === 'number' ? `@${name + 1}` : `@${name}`,
    )
    if (names.length === 0) return 'no bindings'
    const shown = names.slice(0, shownMax).join(', ')
    return names.length > shownMax ? `${shown} and ${names.length - shownMax} more` : shown
  }
}

function checkParameter({ value, cursor }: GqlQueryParameter, site: string): void {
  if (value === null && cursor === null) {
    throw invalidArgument(`GQL: the parameter ${site} holds neither a value nor a cursor`)
  }
}

function checkName(name: string): void {
  if (name === '') throw invalidArgument('GQL: a named binding has an empty name')
  if (/^\d/.test(name))
    throw invalidArgument(
      `GQL: the binding name ${quote(name)} starts with a digit`,
      `GQL query parameter name ${quote(name)} starts with a digit.`,
    )
  if (!/^[A-Za-z_$][A-Za-z_$0-9]*$/.test(name)) {
    throw invalidArgument(`GQL: the binding name ${quote(name)} may hold letters, digits, _ and $ only`)
  }
  if (/^__.*__$/.test(name))
    throw invalidArgument(
      `GQL: the binding name ${quote(name)} is reserved`,
      `The GQL query parameter name ${quote(name)} is reserved.`,
    )
}
