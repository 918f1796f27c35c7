/** A finding in full: how to mend it, and the facts it rests on. */
import type { Finding } from '@sixtables/engine'
import { addressOf } from '../model/route.ts'
import { safeText } from './parts.tsx'

export function FindingFacts({ finding: { remedy, evidence } }: { readonly finding: Finding }) {
  return (
    <>
      <p>{remedy}</p>
      <ul class="small muted bullets my-2">
        {evidence.map((fact) => (
          <li key={fact}>{safeText(fact)}</li>
        ))}
      </ul>
    </>
  )
}

export function LabLink({ lab }: { readonly lab: string }) {
  return <a href={addressOf('labs', [lab])}>Lab {lab}</a>
}
