/** Text of users, isolated from the text around it, with control characters made visible. */
import { visibleLines, visibleText } from '../model/visible-text.ts'

export function SafeText({ text }: { readonly text: string }) {
  return <bdi>{visibleText(text)}</bdi>
}

/** {@link SafeText} that may have several lines: messages and queries. */
export function SafeLines({ text }: { readonly text: string }) {
  return <bdi>{visibleLines(text)}</bdi>
}
