/**
 * Text of users, isolated from the text around it, with control characters made visible. A long text or list is shown in part until the
 * reader asks for the rest: an entity may have a MiB of text in one value, and thousands of properties.
 */

import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { counted } from '../model/numbers.ts'
import { cut } from '../model/value-words.ts'
import { visibleLines, visibleText } from '../model/visible-text.ts'
import { Button } from './controls.tsx'

export function SafeText({ text }: { readonly text: string }) {
  return <bdi>{visibleText(text)}</bdi>
}

/** {@link SafeText} that may have several lines: messages and queries. */
export function SafeLines({ text }: { readonly text: string }) {
  return <bdi>{visibleLines(text)}</bdi>
}

const charactersMax = 2000
const itemsMax = 100

export function LongText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  if (isWhole || text.length <= charactersMax) return <SafeText text={text} />
  return (
    <>
      <SafeText text={cut(text, charactersMax)} />{' '}
      <Button label={`Show all ${counted(text.length)} characters`} look="quiet" onClick={() => setWhole(true)} />
    </>
  )
}

/** The items that are shown, and a button for the others. */
export function useFirst<T>(
  items: readonly T[],
  name: string,
): { readonly shown: readonly T[]; readonly rest: VNode | null } {
  const [isWhole, setWhole] = useState(false)
  if (isWhole || items.length <= itemsMax) return { shown: items, rest: null }
  return {
    shown: items.slice(0, itemsMax),
    rest: <Button label={`Show all ${counted(items.length)} ${name}`} look="quiet" onClick={() => setWhole(true)} />,
  }
}
