/** A part of a page: a box with its name, and words or actions behind the name. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

export interface PanelProps {
  readonly title: ComponentChildren
  /** Beside the title. */
  readonly more?: ComponentChildren
  readonly class?: string
  readonly children: ComponentChildren
}

export function Panel({ title, more, class: style = '', children }: PanelProps) {
  const id = useId()
  return (
    <section class={`panel ${style}`} aria-labelledby={id}>
      <header class="page-head">
        <h2 id={id} class="panel-title">
          {title}
        </h2>
        {more}
      </header>
      {children}
    </section>
  )
}
