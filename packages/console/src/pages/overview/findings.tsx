/** Findings: what is seen, how to mend it, and the lab that shows it. */

import type { Finding } from '@sixtables/engine'
import { SafeText } from '../../components/safe-text.tsx'
import { addressOf } from '../../model/route.ts'

export function Findings({ findings }: { readonly findings: readonly Finding[] | undefined }) {
  if (findings === undefined) return null
  if (findings.length === 0) {
    return (
      <p class="muted">
        None. Each call is looked at for patterns that would be slow or refused at scale: hot keys, rising indexes,
        large offsets and others. <a href={addressOf('labs')}>The labs</a> show each of them.
      </p>
    )
  }
  return (
    <ul class="findings">
      {findings.map((finding) => (
        <li key={`${finding.kind} ${finding.subject}`} class="panel">
          <h3>
            <SafeText text={finding.words} />
          </h3>
          <p>{finding.remedy}</p>
          <ul class="finding-evidence muted">
            {finding.evidence.map((fact) => (
              <li key={fact}>
                <SafeText text={fact} />
              </li>
            ))}
          </ul>
          <p>
            <span class="tag warn">{finding.kind}</span>{' '}
            <a href={addressOf('labs', [finding.lab])}>Lab {finding.lab}</a>
          </p>
        </li>
      ))}
    </ul>
  )
}
