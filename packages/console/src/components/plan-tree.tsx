/** A plan of a query: its scans as a tree, then the steps behind them. */
import type { PlanTree as Plan } from '@sixtables/engine'
import { safeText } from './parts.tsx'

export function PlanTree({ plan: { source, results } }: { readonly plan: Plan }) {
  return (
    <ul class="plan-tree bullets breaks">
      <Step step={source} />
      {results.map((words) => (
        <li key={words}>{safeText(words)}</li>
      ))}
    </ul>
  )
}

function Step({ step: { words, table, index, inputs } }: { readonly step: Plan['source'] }) {
  return (
    <li>
      {safeText(words)}
      {table !== undefined && (
        <span class="tag ml-1 nowrap">{index === undefined ? 'built-in index' : 'composite index'}</span>
      )}
      {inputs.length > 0 && (
        <ul class="bullets">
          {inputs.map((input, i) => (
            <Step key={i} step={input} />
          ))}
        </ul>
      )}
    </li>
  )
}
