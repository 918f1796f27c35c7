/** A draft of a text that has its place elsewhere, such as a query of the address. */
import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * Begins the draft anew with each value that comes from elsewhere. A value that the draft itself has given comes back a moment later,
 * when more may have been typed: it begins nothing.
 *
 * @returns is told the value that the draft gives
 */
export function useNewValue(value: string, begin: (value: string) => void): (given: string) => void {
  const latest = useRef(value)
  // With the drawing, not after it: what is typed in between would be lost.
  useLayoutEffect(() => {
    if (value !== latest.current) begin(value)
    latest.current = value
  }, [value])
  return (given) => {
    latest.current = given
  }
}
