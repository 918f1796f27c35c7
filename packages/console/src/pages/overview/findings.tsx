/** Findings: one line for each kind of them, the heaviest first; unfolded, each with its facts and how to mend it. */

import type { Finding } from '@sixtables/engine'
import { FindingFacts, LabLink } from '../../components/finding-facts.tsx'
import { Panel } from '../../components/panel.tsx'
import { SafeText } from '../../components/text.tsx'
import { addressOf } from '../../model/route.ts'

export function Findings({ findings }: { readonly findings: readonly Finding[] | undefined }) {
  if (findings === undefined) return null
  if (findings.length === 0) {
    return (
      <Panel title="No findings">
        <p class="muted">
          Each call is looked at for patterns that would be slow or refused at scale: hot keys, rising indexes, large
          offsets and others. <a href={addressOf('labs')}>The labs</a> show each of them.
        </p>
      </Panel>
    )
  }
  return (
    <Panel title="Findings">
      <ul class="findings">
        {groupsOf(findings).map(([first, ...others]) => (
          <li key={first.kind}>
            <details>
              <summary>
                <span class="tag warn">{first.kind}</span> <SafeText text={first.words} />
                {others.length > 0 && <span class="muted"> and {others.length} more</span>}
              </summary>
              <FindingFacts finding={first} />
              {others.map((finding) => (
                <section key={finding.subject}>
                  <h3>
                    <SafeText text={finding.words} />
                  </h3>
                  <FindingFacts finding={finding} />
                </section>
              ))}
            </details>
            <LabLink lab={first.lab} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** By kind, in each the one with the greatest share of load or calls first, and so the kinds. */
function groupsOf(findings: readonly Finding[]): readonly (readonly [Finding, ...Finding[]])[] {
  const groups = new Map<string, [Finding, ...Finding[]]>()
  for (const finding of findings.toSorted((a, b) => b.share - a.share)) {
    const group = groups.get(finding.kind)
    if (group === undefined) groups.set(finding.kind, [finding])
    else group.push(finding)
  }
  return [...groups.values()]
}
