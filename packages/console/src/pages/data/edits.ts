/**
 * Values that were changed in cells and are not saved yet. They stay while the user sorts, filters and goes to other pages.
 *
 *   cell ─change─▶ edited entity: what was read, and the forms of its changed values ─save─▶ one commit of all, and its rows
 *                      └─ another writer's commit ─▶ left out of saves, with what is stored now, until the user keeps one of both
 *
 * ED1  A save names the version that was read with the entity: it never takes the place of another writer's unseen.  data-cells.test.ts
 * ED2  After a save, rows and later changes are based on what it wrote, also before the rows are read again.             data-cells.test.ts
 */
import { effect, signal } from '@preact/signals'
import type { EntityResult } from '../../api/datastore.ts'
import { commitWrites, type KeyedWrite, readEntity, type StoredEntity } from '../../api/entities.ts'
import { type EntityScope, isSameScope } from '../../model/scope.ts'
import { emptyValue, formOf, type JsonObject, jsonOf, type ValueForm, valueTypes } from '../../model/typed-json.ts'
import { formInPlaceOf } from '../../model/value-conversion.ts'
import { problemIn } from '../../model/value-problems.ts'
import { type ApiValue, propertyOf } from '../../model/value-words.ts'
import type { Column } from './results.ts'
import { keyTextOf } from './results.ts'

export interface EditedEntity {
  readonly scope: EntityScope
  readonly key: string
  readonly base: StoredEntity
  readonly forms: ReadonlyMap<string, ValueForm>
  /** The entity that another writer has stored since; without properties where it was deleted. */
  readonly theirs?: StoredEntity | undefined
}

/** Element that tells what is wrong with a changed value. */
export const editProblemId = 'edit-problem'

const edited = signal<readonly EditedEntity[]>([])

// A page that is left for good would lose them, whatever it shows then.
effect(() => {
  if (edited.value.length === 0) return
  const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
  addEventListener('beforeunload', ask)
  return () => removeEventListener('beforeunload', ask)
})

export function editedIn(scope: EntityScope): readonly EditedEntity[] {
  return edited.value.filter((one) => isSameScope(one.scope, scope))
}

export function editOf(scope: EntityScope, row: EntityResult): EditedEntity | undefined {
  const key = keyTextOf(row)
  return edited.value.find((one) => one.key === key && isSameScope(one.scope, scope))
}

/** The form of a cell's value; `undefined` for a value that its cell has no room for, and for a row without a version. */
export function formOfCell(row: EntityResult, { property, type }: Column, scope: EntityScope): ValueForm | undefined {
  if (row.version === undefined) return undefined
  const value = propertyOf(row.entity.properties, property)
  if (value === undefined || 'nullValue' in value) {
    const found = valueTypes.find((one) => one === type)
    if (found === undefined || isLarge(found)) return undefined
    const none = value === undefined ? { ...emptyValue, type: 'null' as const } : formOf(value as JsonObject)
    return { ...formInPlaceOf(none, found), partition: scope }
  }
  const form = formOf(value as JsonObject)
  return isLarge(form.type) || form.text.includes('\r') ? undefined : form
}

const isLarge = (type: ValueForm['type']): boolean => ['null', 'array', 'entity', 'other'].includes(type)

/** @param form - absent: the value as it was read */
export function setCell(scope: EntityScope, row: EntityResult, property: string, form: ValueForm | undefined): void {
  const found = editOf(scope, row)
  const { entity, version = '0' } = row
  const base = found?.base ?? { properties: (entity.properties ?? {}) as JsonObject, version }
  const forms = new Map(found?.forms)
  const stored = base.properties?.[property]
  const isSame = form !== undefined && stored !== undefined && sameJson(jsonOf(formOf(stored)), jsonOf(form))
  if (form === undefined || isSame) forms.delete(property)
  else forms.set(property, form)
  const others = edited.value.filter((one) => one !== found)
  edited.value = forms.size === 0 ? others : [...others, { scope, key: keyTextOf(row), base, forms }]
}

const sameJson = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b)

export function editedValue(edit: EditedEntity | undefined, property: string): ApiValue | undefined {
  const form = edit?.forms.get(property)
  if (form === undefined) return undefined
  return problemIn(form) === undefined ? (jsonOf(form) as ApiValue) : { stringValue: form.text }
}

export function problemOf(entities: readonly EditedEntity[]): string | undefined {
  for (const { key, forms } of entities) {
    for (const [property, form] of forms) {
      const problem = problemIn(form)
      if (problem !== undefined) return `${key}, ${property}: ${problem}`
    }
  }
  return undefined
}

export function writesOf(entities: readonly EditedEntity[]) {
  return entities.map(({ key, base, forms }) => {
    const changed = Object.fromEntries([...forms].map(([property, form]) => [property, jsonOf(form)]))
    // Through the form: it keeps -0, which JSON would lose.
    const kept = Object.entries(base.properties ?? {}).map(([name, value]) => [name, jsonOf(formOf(value))] as const)
    return {
      key,
      operation: 'upsert',
      properties: { ...Object.fromEntries(kept), ...changed },
      baseVersion: base.version,
    } satisfies KeyedWrite
  })
}

export function forget(entities: readonly EditedEntity[]): void {
  edited.value = edited.value.filter((one) => !entities.includes(one))
}

/** Reads what is stored now of entities that another writer has changed or deleted. */
export async function look(entities: readonly EditedEntity[]): Promise<void> {
  const newest = await Promise.all(entities.map(({ scope, key }) => readEntity(scope, key)))
  edited.value = edited.value.map((one) => {
    const theirs = newest[entities.indexOf(one)]
    return theirs === undefined ? one : { ...one, theirs }
  })
}

/** Bases entities on what is stored now: their changed values replace those of the other writer. A deleted one is made again. */
export function keepMine(entities: readonly EditedEntity[]): void {
  edited.value = edited.value.map((one) =>
    entities.includes(one) ? { ...one, base: { ...one.base, ...one.theirs }, theirs: undefined } : one,
  )
}

/** Saves all; an entity that another writer has changed or deleted meanwhile stays. @returns how many were written */
export async function save(scope: EntityScope, entities: readonly EditedEntity[]): Promise<number> {
  const { entities: written } = await commitWrites(scope, writesOf(entities))
  edited.value = edited.value.flatMap((one) => {
    const now = isSameScope(one.scope, scope) ? written.get(one.key) : undefined
    return now === undefined ? one : unsavedOf(one, now, entities)
  })
  await look(entities.filter(({ key }) => !written.has(key)))
  return written.size
}

/** The values of a saved entity that were changed while the save was under way; empty without any. */
function unsavedOf(one: EditedEntity, base: StoredEntity, saved: readonly EditedEntity[]): readonly EditedEntity[] {
  const before = saved.find(({ key }) => key === one.key)
  const forms = new Map([...one.forms].filter(([property, form]) => before?.forms.get(property) !== form))
  return forms.size === 0 ? [] : [{ ...one, base, forms, theirs: undefined }]
}
