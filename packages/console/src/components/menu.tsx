/**
 * A button that opens what is used seldom: actions, links, or a few controls.
 *
 *   <Menu label="More"><Button label="Export…" look="item" onClick={…} /></Menu>
 *
 * An action or a link in it closes it, and so do Escape, a click elsewhere and leaving it; the focus goes back to the button. A button that
 * stays pressed leaves it open.
 */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

export function Menu({ label, children }: Readonly<{ label: ComponentChildren; children: ComponentChildren }>) {
  const [isOpen, setOpen] = useState(false)
  const [menu, button] = [useRef<HTMLSpanElement>(null), useRef<HTMLButtonElement>(null)]
  const close = (): void => {
    setOpen(false)
    button.current?.focus()
  }
  // As soon as it is seen, not after it is painted: an Escape in between would be lost.
  useLayoutEffect(() => {
    if (!isOpen) return
    const isWithin = (target: EventTarget | null): boolean =>
      target instanceof Node && menu.current?.contains(target) === true
    const onMove = ({ target }: Event): void => {
      if (!isWithin(target)) setOpen(false)
    }
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      close()
    }
    const ended = new AbortController()
    for (const name of ['pointerdown', 'focusin']) addEventListener(name, onMove, ended)
    addEventListener('keydown', onKey, ended)
    return () => ended.abort()
  }, [isOpen])
  return (
    <span ref={menu} class="menu relative">
      <button ref={button} type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {label} <span aria-hidden="true">▾</span>
      </button>
      {isOpen && (
        // The action comes after: a dialog that it opens gives the focus back to the button.
        <div
          class="menu-panel box scrolls p-1 absolute shadow"
          tabIndex={-1}
          onClickCapture={({ target }) => {
            if (target instanceof Element && target.closest('a, button:not([aria-pressed])') !== null) close()
          }}
        >
          {children}
        </div>
      )}
    </span>
  )
}
