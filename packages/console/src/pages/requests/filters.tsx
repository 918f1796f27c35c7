/** The filter of the list, kept in the address. */
import { Button, Select, useWholeText } from '../../components/controls.tsx'
import { dataMethods } from '../../model/data-methods.ts'
import type { QueryMembers } from '../../model/route.ts'

const names = ['text', 'method', 'kind', 'code', 'slower', 'transaction', 'database', 'namespace'] as const

const codes = [
  'OK',
  'error',
  'ABORTED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'INVALID_ARGUMENT',
  'FAILED_PRECONDITION',
  'UNAVAILABLE',
]

/** Filters as an address has them; others are left out. */
export function filtersOf(query: URLSearchParams): QueryMembers {
  return Object.fromEntries(names.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? undefined]] : [])))
}

export interface FiltersProps {
  readonly filters: QueryMembers
  readonly onChange: (changed: QueryMembers) => void
}

export function Filters({ filters, onChange }: FiltersProps) {
  const isAny = Object.values(filters).some((value) => value !== undefined)
  return (
    <search class="toolbar" aria-label="Filter of the calls">
      <Field name="Search" value={filters['text']} onChange={(text) => onChange({ text })} />
      <Select
        look="bare"
        label="Method"
        value={filters['method'] ?? ''}
        options={choicesOf('all methods', dataMethods, filters['method'])}
        onChange={(method) => onChange({ method: method || undefined })}
      />
      <Select
        look="bare"
        label="Result"
        value={filters['code'] ?? ''}
        options={choicesOf('all results', codes, filters['code'])}
        onChange={(code) => onChange({ code: code || undefined })}
      />
      <Field name="Kind" value={filters['kind']} onChange={(kind) => onChange({ kind })} />
      <Field name="Slower than, ms" isNumber value={filters['slower']} onChange={(slower) => onChange({ slower })} />
      <Field name="Transaction" value={filters['transaction']} onChange={(transaction) => onChange({ transaction })} />
      {isAny && (
        <Button
          label="Clear"
          look="quiet"
          onClick={() => onChange(Object.fromEntries(names.map((name) => [name, undefined])))}
        />
      )}
    </search>
  )
}

/** A value of the address that is none of the choices is offered, too. */
function choicesOf(all: string, choices: readonly string[], value = '') {
  return [['', all] as const, ...new Set([...choices, value])].filter((choice) => choice !== '')
}

interface FieldProps {
  readonly name: string
  readonly value: string | undefined
  readonly isNumber?: boolean
  readonly onChange: (value: string | undefined) => void
}

/** Takes effect with Enter, or when it is left. */
function Field({ name, value = '', isNumber = false, onChange }: FieldProps) {
  return (
    <input
      class="requests-field"
      type="text"
      inputMode={isNumber ? 'decimal' : 'text'}
      aria-label={name}
      placeholder={name}
      {...useWholeText(value, (text) => onChange(text.trim() || undefined))}
    />
  )
}
