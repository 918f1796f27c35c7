/** The queries that this browser keeps, as items of a menu: those that the user keeps, and the latest. */
import { useState } from 'preact/hooks'
import { Button } from '../../components/controls.tsx'
import { safeText } from '../../components/parts.tsx'
import { type KeptQuery, keptQueries, noteQuery } from '../../model/kept-queries.ts'
import { readAddress } from '../../model/route.ts'
import { type EntityScope, isSameScope, scopeIn } from '../../model/scope.ts'

type QueriesProps = Readonly<{ scope: EntityScope; now: Omit<KeptQuery, 'isKept'> }>

/** Read when the menu opens. */
export function KeptQueries({ scope, now }: QueriesProps) {
  const [, draw] = useState(0)
  const keep = (query: QueriesProps['now'], isOn: boolean): void => {
    noteQuery({ ...query, isKept: isOn })
    draw((count) => count + 1)
  }
  const queries = keptQueries()
  const kept = queries.filter(({ isKept }) => isKept)
  const isKept = kept.some(({ address }) => address === now.address)
  const list = (title: string, shown: readonly KeptQuery[]) =>
    shown.length > 0 && (
      <section aria-label={title}>
        <h3>{title}</h3>
        <ul>
          {shown.map((query) => (
            <li key={query.address} class="row spread">
              <a class="text no-underline cut mono" href={query.address} title={query.gql}>
                {safeText(query.gql)}
                <Elsewhere address={query.address} scope={scope} />
              </a>
              <Button
                label={query.isKept ? '★' : '☆'}
                aria-label={`Keep ${query.gql}`}
                aria-pressed={query.isKept}
                onClick={() => keep(query, !query.isKept)}
              />
            </li>
          ))}
        </ul>
      </section>
    )
  return (
    <>
      {!isKept && <Button label="Keep this query" aria-pressed={false} onClick={() => keep(now, true)} />}
      {list('Kept in this browser', kept)}
      {list(
        'Latest',
        queries.filter((one) => !one.isKept),
      )}
    </>
  )
}

function Elsewhere({ address, scope }: { readonly address: string; readonly scope: EntityScope }) {
  const there = scopeIn(readAddress(address))
  const words = [there.project, there.database, there.namespace].filter((part) => part !== '').join(' / ')
  return isSameScope(there, scope) ? null : <span class="muted"> {safeText(words)}</span>
}
