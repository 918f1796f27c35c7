/** The width of an element, for what is drawn by pixels. */
import { useLayoutEffect, useState } from 'preact/hooks'

/** @param first - the width until the element is laid out */
export function useWidth(box: { readonly current: HTMLElement | null }, first: number): number {
  const [width, setWidth] = useState(first)
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return width
}
