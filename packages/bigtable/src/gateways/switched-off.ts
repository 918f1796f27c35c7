/**
 * Mechanisms of several gateways that a test can switch off, to prove that the tests notice it. No flag, setting or call can do so.
 */
import type { Mechanism } from '@sixtables/engine/store'

export type GatewayMechanism =
  | 'clock-list' // commits under way stand in no list
  | 'resolve-before-strike' // a list that does not change is struck out as it is
  | 'fence' // a commit that is not found decided is taken for refused, and nothing keeps it from coming late
  | 'group-log-check' // reads in the one group that is written are not compared with its log
  | 'head-below' // a commit enters a group above whose head its stamp is not
  | 'later-reading' // a read of the clock row takes one that began before it
  | 'images-of-turn' // commits of one turn are evaluated over the group as it was read
  | 'proof-of-turn' // a commit that changes nothing is answered, although the append of its turn was lost
  | 'validation' // other reads are not validated
  | 'wait-in-validation' // commits under way are not resolved before reads are validated
  | 'fate' // an append without an answer is taken for refused
  | 'cell-timestamps' // rows are written at one timestamp, so that the last write counts
  | 'prepared-in-lookup' // a lookup does not look at the prepared record of its group
  | 'resolve-in-read' // a strong read does not resolve the commits under way
  | 'low-watermark' // an eventual read is made at the register
  | 'epoch-check' // a commit is stamped in an epoch that was raised after it had read
  | 'noted-reads' // the reads of a transaction are not written down
  | 'retention' // old cells are swept at once
  | 'settled-check' // rows of an old record are written without a look whether it is settled
  | 'single-end' // a transaction is ended by each commit that names it
  | 'closed-databases' // commits and reads go on while another gateway deletes the rows of their database
  | 'deletion-stamp' // each gateway that finishes a deletion does so at a stamp of its own
  | 'compared-clock' // a clock that is wrong gives stamps
  | 'all-registers' // a stamp is above those of its own clock row alone
  | 'fresh-registers' // a commit does not read the clock rows before its stamp
  | 'row-remainder' // stamps of two clock rows may be the same
  | 'raise' // a strong read does not raise the registers of clock rows
  | 'read-after-raise' // a strong read uses lists that it has read before the raise
  | 'raise-condition' // a raise may move a register back
  | 'stamp-condition' // a stamp may be below the register of its row
  | 'validation-moment' // the stamp is not closed in all clock rows before reads are validated
  | 'low-of-all-rows' // the low watermark is that of the row with the highest register
  | 'low-of-lists' // the low watermark does not look at lists
  | 'whole-epoch' // a reading counts although a clock row has another epoch
  | 'epoch-in-all-rows' // an epoch counts as raised while it is in the first clock row alone
  | 'epoch-above' // an epoch begins with what was given before it, and with new rows at 0
  | 'resolve-before-fewer' // clock rows are left out with what is listed in them
  | 'index-epochs' // a record writes the indexes of the time when it is applied, not those of its epoch

/** A set of mechanisms; those of the engine may be in it as well. */
export interface GatewaysSwitchedOff {
  has(mechanism: GatewayMechanism | Mechanism): boolean
}
