/**
 * A query's filter, checked and converted to an OR of ANDs.
 *
 * Each AND is a conjunction of atoms: one property, one operator, codes of the values to compare with. `a = 1 AND (b = 2 OR c
 * = 3)` is [a = 1, b = 2] or [a = 1, c = 3]. IN with one value is EQUAL. IN with several stays one atom, since disjuncts.ts
 * can often turn it into ranges of a column instead of several disjuncts.
 *
 * Known: the limits on IN, NOT_IN and components. Measured: which filters are refused.
 */
import { pathCode } from '../encoding/key-codec.ts'
import { validateIndexedValue } from '../encoding/validate-entity.ts'
import { validateKey, validateNameBytes } from '../encoding/validate-key.ts'
import { valueCode } from '../encoding/value-codec.ts'
import { shorten } from '../encoding/value-slot.ts'
import { invalidArgument } from '../errors.ts'
import { limits } from '../limits.ts'
import { formatKey, isInScope, type Key, type PartitionId } from '../model/key.ts'
import type { Filter, PropertyOperator } from '../model/query.ts'
import { userMeaning, type Value } from '../model/value.ts'

export type AtomOperator = Exclude<PropertyOperator, 'hasAncestor'>

/** One comparison. `codes` are value codes, or path codes if the property is `__key__`. */
export interface Atom {
  readonly property: string
  readonly operator: AtomOperator
  readonly codes: readonly string[]
}

export type Conjunction = readonly Atom[]

export interface FilterTerms {
  /** One empty conjunction if there is no filter. */
  readonly conjunctions: readonly Conjunction[]
  /** Properties with inequalities, which become columns; the key is none. */
  readonly unequal: readonly string[]
}

export interface FilterForm extends FilterTerms {
  readonly ancestor: Key | undefined
}

export const keyProperty = '__key__'

const unfiltered: FilterForm = { ancestor: undefined, conjunctions: [[]], unequal: [] }

export function countFilters(filter: Filter | undefined): number {
  if (filter === undefined) return 0
  if (filter.type === 'property') return 1
  return filter.filters.reduce((count, part) => count + countFilters(part), 0)
}

/** The normal form of a filter whose parts were counted. Throws INVALID_ARGUMENT for an invalid one. */
export function readFilter(filter: Filter | undefined, partition: PartitionId): FilterForm {
  if (filter === undefined) return unfiltered
  const reader = new FilterReader(partition)
  const read = reader.read(filter)
  const { unequal } = reader
  if (unequal.size > limits.inequalityPropertiesMax) {
    throw invalidArgument(
      `the query has inequality filters on ${unequal.size} properties; at most ${limits.inequalityPropertiesMax} are allowed`,
      `A query may not have more than ${limits.inequalityPropertiesMax} distinct inequality fields.`,
    )
  }
  // Known (proto): NOT_IN excludes IN and OR.
  if (reader.isNotIn && reader.isSeveral) {
    throw invalidArgument('a query with NOT_IN may hold no IN and no OR: write NOT_IN as inequalities, or ask twice')
  }
  return {
    ancestor: read.length > 1 ? commonAncestor(read) : read[0]?.ancestor,
    conjunctions: read.map((conjunction) => conjunction.atoms),
    unequal: [...unequal].filter((property) => property !== keyProperty),
  }
}

interface ReadConjunction {
  readonly atoms: readonly Atom[]
  readonly ancestor: Key | undefined
}

class FilterReader {
  readonly #partition: PartitionId
  #negations = 0
  isNotIn = false
  /** Whether there is an OR or an IN; without one there is one disjunction. */
  isSeveral = false
  readonly unequal: Set<string> = new Set()

  constructor(partition: PartitionId) {
    this.#partition = partition
  }

  read(filter: Filter): readonly ReadConjunction[] {
    if (filter.type === 'property') return [this.#property(filter)]
    if (filter.filters.length === 0) {
      throw invalidArgument(
        `a composite filter (${filter.operator.toUpperCase()}) holds no filters: give it at least one`,
      )
    }
    if (filter.operator === 'or') {
      this.isSeveral = true
      const all = filter.filters.flatMap((part) => this.read(part))
      checkDisjunctions(all)
      return all
    }
    let product: readonly ReadConjunction[] = [{ atoms: [], ancestor: undefined }]
    for (const part of filter.filters) {
      const forms = this.read(part)
      product =
        product.length === 1 && forms.length === 1
          ? [both(product[0] as ReadConjunction, forms[0] as ReadConjunction)]
          : product.flatMap((left) => forms.map((right) => both(left, right)))
      if (this.isSeveral) checkDisjunctions(product)
    }
    return product
  }

  #property(filter: Extract<Filter, { type: 'property' }>): ReadConjunction {
    const { property, operator, value } = filter
    if (property === '')
      throw invalidArgument('a filter names no property: its name is empty', 'The property.name is the empty string.')
    validateNameBytes(property, limits.propertyNameBytesMax, 'the name of a filtered property')
    checkComparable(property, value)
    if (operator === 'hasAncestor') return { atoms: [], ancestor: this.#ancestor(property, value) }
    if (operator === 'notEqual' || operator === 'notIn') {
      if (++this.#negations > 1)
        throw invalidArgument(
          'a query may hold one NOT_EQUAL or NOT_IN at most',
          "Only a single 'NOT_EQUAL' or 'NOT_IN' is allowed per query.",
        )
      if (operator === 'notIn') this.isNotIn = true
    }
    if (operator === 'in') this.isSeveral = true
    else if (operator !== 'equal') this.unequal.add(property)
    return { atoms: [this.#atom(property, operator, value)], ancestor: undefined }
  }

  #ancestor(property: string, value: Value): Key {
    if (property !== keyProperty) {
      throw invalidArgument(
        `HAS_ANCESTOR is for ${keyProperty} only, but the filter names ${property}`,
        'property must be __key__',
      )
    }
    if (value.type !== 'key')
      throw invalidArgument(
        `an ancestor must be a key, but the filter has the type ${value.type}`,
        'HAS_ANCESTOR requires a key value',
      )
    this.#checkKey(value.key)
    return value.key
  }

  #atom(property: string, operator: AtomOperator, value: Value): Atom {
    if (operator !== 'in' && operator !== 'notIn') {
      return { property, operator, codes: [this.#code(property, value)] }
    }
    const name = operator === 'in' ? 'IN' : 'NOT_IN'
    if (value.type !== 'array' || value.values.length === 0) {
      throw invalidArgument(
        `${name} on ${property} needs an array of at least one value`,
        value.type === 'array' ? `${name} requires an non-empty ArrayValue.` : `${name} requires an ArrayValue.`,
      )
    }
    const max = operator === 'in' ? limits.inValuesMax : limits.notInValuesMax
    if (value.values.length > max) {
      throw invalidArgument(
        `${name} on ${property} has ${value.values.length} values; at most ${max} are allowed`,
        `${name} supports up to ${max} values.`,
      )
    }
    for (const member of value.values) checkComparable(property, member)
    const codes = [...new Set(value.values.map((member) => this.#code(property, member)))]
    return { property, operator: operator === 'in' && codes.length === 1 ? 'equal' : operator, codes }
  }

  #code(property: string, value: Value): string {
    if (property === keyProperty) {
      if (value.type !== 'key') {
        throw invalidArgument(
          `${keyProperty} must be compared with a key, but the filter has the type ${value.type}`,
          `${keyProperty} filter value must be a Key`,
        )
      }
      this.#checkKey(value.key)
      return pathCode(value.key.path)
    }
    if (value.type === 'array') {
      throw invalidArgument(
        `${property} is compared with an array: use IN or NOT_IN, or filter by one of its values`,
        'A list value is not allowed',
      )
    }
    if (value.type === 'entity' && value.meaning !== userMeaning) {
      throw invalidArgument(
        `${property} is compared with an entity; entities are not indexed: filter by ${property}.<field>`,
      )
    }
    if (value.type === 'key') validateKey(value.key, 'value', undefined)
    const bytes =
      value.type === 'string' ? Buffer.byteLength(value.value) : value.type === 'blob' ? value.value.length : 0
    if (bytes > limits.indexedValueBytesMax) {
      throw invalidArgument(
        `the value that ${shorten(property)} is compared with has ${bytes} bytes; at most ${limits.indexedValueBytesMax} can be indexed: shorten it`,
        `The value of property "${shorten(property)}" is longer than ${limits.indexedValueBytesMax} bytes.`,
      )
    }
    return valueCode(value)
  }

  #checkKey(key: Key): void {
    validateKey(key, 'value', undefined)
    if (!isInScope(key.partition, this.#partition)) {
      throw invalidArgument(
        `the key [${formatKey(key)}] in the filter is in ${partitionWords(key.partition)}, but the query in ${partitionWords(this.#partition)}`,
        `The query namespace is '${this.#partition.namespaceId}' but ${keyProperty} filter namespace is '${key.partition.namespaceId}'.`,
      )
    }
  }
}

/**
 * Refuses a value that no indexed property can have. Values from query results are allowed: those of projections have meaning
 * 18, which no client can store, and old geo points 23.
 */
function checkComparable(property: string, value: Value): void {
  const { type, meaning = 0, excludeFromIndexes } = value
  if (excludeFromIndexes)
    throw invalidArgument(
      `the value that ${property} is compared with is marked unindexed: leave exclude_from_indexes unset in filters`,
      'a filter value must be indexed',
    )
  if (meaning === 0) return
  const isOfResult = meaning === 18 ? type !== 'timestamp' && type !== 'entity' : meaning === 23 && type === 'geoPoint'
  if (!isOfResult) validateIndexedValue(property, value)
}

const commonAncestorText = 'All disjunctions must have a common and unique ancestor constraint.'

/** The ancestor of the query: all conjunctions must have the same one. */
function commonAncestor(conjunctions: readonly ReadConjunction[]): Key | undefined {
  const ancestor = conjunctions[0]?.ancestor
  const code = ancestor && pathCode(ancestor.path)
  for (const { ancestor: other } of conjunctions) {
    if ((other && pathCode(other.path)) !== code) {
      throw invalidArgument(
        'all parts of the filter need one common ancestor: put HAS_ANCESTOR outside of the OR',
        commonAncestorText,
      )
    }
  }
  return ancestor
}

function both(a: ReadConjunction, b: ReadConjunction): ReadConjunction {
  if (a.ancestor !== undefined && b.ancestor !== undefined && pathCode(a.ancestor.path) !== pathCode(b.ancestor.path)) {
    throw invalidArgument(
      `the query asks for two ancestors, [${formatKey(a.ancestor)}] and [${formatKey(b.ancestor)}]: one is allowed`,
      commonAncestorText,
    )
  }
  return { atoms: a.atoms.length === 0 ? b.atoms : [...a.atoms, ...b.atoms], ancestor: a.ancestor ?? b.ancestor }
}

function checkDisjunctions(conjunctions: readonly ReadConjunction[]): void {
  let count = 0
  for (const { atoms } of conjunctions) {
    let product = 1
    for (const atom of atoms) if (atom.operator === 'in') product *= atom.codes.length
    count += product
  }
  if (count > limits.disjunctionsMax) {
    throw invalidArgument(
      `the filter has ${count} disjunctions once OR and IN are multiplied out; at most ${limits.disjunctionsMax} are allowed`,
    )
  }
}

function partitionWords(partition: PartitionId): string {
  const { projectId, databaseId, namespaceId } = partition
  return `project ${projectId}, database "${databaseId}", namespace "${namespaceId}"`
}
