/**
 * Mechanisms of the engine that a test can switch off, to prove that what rests on them notices.
 *
 * Only tests do so, by `EngineOptions.switchedOff`: no flag, no setting and no call reaches it.
 */

/**
 *   roll-forward     a strong read does not apply what is committed in its groups
 *   id-reservation   ids that are reserved, or written by hand, do not move the counter
 *   id-counter       ids are given and not counted, so that they are given again
 *   conflict-check   a commit does not notice that what it read has changed, and waits for no lock
 *
 * At a store that several processes share (shared/):
 *
 *   clock-list           commits under way stand in no list
 *   fence                a commit that is not found decided is taken for refused, and nothing keeps it from coming late
 *   group-log-check      reads in the one group that is written are not compared with its log
 *   validation           other reads are not validated
 *   wait-in-validation   commits under way are not resolved before reads are validated
 *   fate                 an append without an answer is taken for refused
 *   cell-timestamps      rows are written at one timestamp, so that the last write counts
 *   prepared-in-lookup   a lookup does not look at the prepared record of its group
 *   resolve-in-read      a strong read does not resolve the commits under way
 *   low-watermark        an eventual read is made at the register
 *   epoch-check          a commit is stamped in an epoch that was raised after it had read
 *   noted-reads          the reads of a transaction are not written down
 *   retention            old cells are swept at once
 *   settled-check        rows of an old record are written without a look whether it is settled
 *   single-end           a transaction is ended by each commit that names it
 *   closed-databases     commits and reads go on while another gateway deletes the rows of their database
 *   deletion-stamp       each gateway that finishes a deletion does so at a stamp of its own
 *   compared-clock       a clock that is wrong gives stamps
 *   expired-check        an entity that was found expired is deleted, also when it was renewed since
 *   index-epochs         a record writes the indexes of the time when it is applied, not those of its epoch
 */
export type Mechanism =
  | 'roll-forward'
  | 'id-reservation'
  | 'id-counter'
  | 'conflict-check'
  | 'clock-list'
  | 'fence'
  | 'group-log-check'
  | 'validation'
  | 'wait-in-validation'
  | 'fate'
  | 'cell-timestamps'
  | 'prepared-in-lookup'
  | 'resolve-in-read'
  | 'low-watermark'
  | 'epoch-check'
  | 'noted-reads'
  | 'retention'
  | 'settled-check'
  | 'single-end'
  | 'closed-databases'
  | 'deletion-stamp'
  | 'index-epochs'
  | 'compared-clock'
  | 'expired-check'

export type SwitchedOff = ReadonlySet<Mechanism>
