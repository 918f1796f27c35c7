/** The words of a view that has nothing to show yet, and the next step. */
import type { ComponentChildren } from 'preact'

export function EmptyState({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty-state">
      <h2>{title}</h2>
      {children}
    </div>
  )
}
