/** From an index row back to the Entities row that it belongs to. */
import { InvariantError, invariant } from '../invariant.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { RowKey } from '../storage/kv.ts'
import { entityRowKeyOf } from '../tables/entities.ts'
import { parseCompositeHead, parseCompositeRowKey } from '../tables/entities-by-composite-property.ts'
import { parseEntitiesByKindRowKey } from '../tables/entities-by-kind.ts'
import { parsePropertyRowKey } from '../tables/entities-by-property.ts'
import { tableOfRow } from '../tables/entity-rows.ts'

export function entityRowOfIndexRow(rowKey: RowKey, indexes: readonly CompositeIndex[]): RowKey {
  const table = tableOfRow(rowKey)
  switch (table) {
    case 'EntitiesByKind':
      return entityRowKeyOf(parseEntitiesByKindRowKey(rowKey))
    case 'EntitiesByPropertyAsc':
    case 'EntitiesByPropertyDesc':
      return entityRowKeyOf(parsePropertyRowKey(rowKey).key)
    case 'EntitiesByCompositeProperty': {
      const { indexId } = parseCompositeHead(rowKey)
      const index = indexes.find(({ id }) => id === indexId)
      invariant(index !== undefined, `index ${indexId} has rows but no definition`)
      return entityRowKeyOf(parseCompositeRowKey(index, rowKey).key)
    }
    default:
      throw new InvariantError(`a row of ${table} is no index row`)
  }
}
