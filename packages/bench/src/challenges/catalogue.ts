/** The challenges, the easier ones first. */
import type { Challenge } from './challenge.ts'
import { customerKeys } from './customer-keys.ts'
import { eventTime } from './event-time.ts'
import { expireAMillion } from './expire-a-million.ts'
import { followerList } from './follower-list.ts'
import { invoiceNumbers } from './invoice-numbers.ts'
import { likeButton } from './like-button.ts'
import { moveTheKind } from './move-the-kind.ts'
import { pageTenThousand } from './page-ten-thousand.ts'

export const challenges: readonly Challenge[] = [
  pageTenThousand,
  customerKeys,
  invoiceNumbers,
  eventTime,
  likeButton,
  followerList,
  expireAMillion,
  moveTheKind,
]
