/** Text of users, isolated from the text around it, with control characters made visible. */
import { visibleText } from '../model/visible-text.ts'

export function SafeText({ text }: { readonly text: string }) {
  return <bdi>{visibleText(text)}</bdi>
}
