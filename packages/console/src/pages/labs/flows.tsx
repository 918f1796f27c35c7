/** A put on its way from the log to the tables: stages from top to bottom, each row as a square behind the name of its table. */
import type { ComparedFlows, FlowStage } from '@sixtables/bench'

export function Flows({ flows: { title, flows } }: { readonly flows: ComparedFlows }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <div class="flow-grid">
        {flows.map(({ arm, flow }) => (
          <figure key={arm} class="flow">
            <figcaption>{arm}</figcaption>
            <ol>
              {flow.stages.map((stage) => (
                <Stage key={stage.name} stage={stage} />
              ))}
            </ol>
          </figure>
        ))}
      </div>
    </section>
  )
}

function Stage({ stage: { name, tables, reads } }: { readonly stage: FlowStage }) {
  return (
    <li>
      <strong>{name}</strong>
      <ul class="bullets">
        {tables.map(({ table, rows }) => (
          <li key={table} class="toolbar">
            <span>
              {table}, {rows} {rows === 1 ? 'row' : 'rows'}
            </span>
            <span class="flow-rows" aria-hidden="true">
              {Array.from({ length: rows }, (_, i) => (
                <i key={i} style={{ animationDelay: `${i * 60}ms` }} />
              ))}
            </span>
          </li>
        ))}
        {reads.map(({ what, answer, isRight }) => (
          <li key={what}>
            {what}: {answer} <span class={`tag ${isRight ? 'good' : 'bad'}`}>{isRight ? 'right' : 'wrong'}</span>
          </li>
        ))}
      </ul>
    </li>
  )
}
