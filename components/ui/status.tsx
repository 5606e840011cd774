import { clsx } from 'clsx'
import {
  ArrowUp,
  Ban,
  Check,
  CircleDashed,
  CircleOff,
  Clock,
  Hourglass,
  type LucideIcon,
  RefreshCw,
  TimerOff,
  TriangleAlert,
  X,
} from 'lucide-react'

type Tone = 'good' | 'bad' | 'warn' | 'water' | 'calm'
type Look = { tone: Tone; icon: LucideIcon; label?: string }

/** Every status in Sluice. Each has an icon and a word in addition to a color. */
const STATES = {
  uploading: { tone: 'water', icon: ArrowUp },
  waiting: { tone: 'warn', icon: Hourglass },
  transferring: { tone: 'water', icon: RefreshCw },
  transferred: { tone: 'good', icon: Check },
  partially_transferred: { tone: 'warn', icon: CircleDashed, label: 'partially transferred' },
  failed: { tone: 'bad', icon: X },
  expired: { tone: 'warn', icon: TimerOff },
  canceled: { tone: 'calm', icon: Ban },
  pending: { tone: 'water', icon: Clock },
  retrying: { tone: 'warn', icon: RefreshCw },
  delivered: { tone: 'good', icon: Check },
  on: { tone: 'good', icon: Check },
  failing: { tone: 'warn', icon: TriangleAlert },
  off: { tone: 'calm', icon: CircleOff },
  active: { tone: 'good', icon: Check },
  revoked: { tone: 'calm', icon: Ban },
  exposed: { tone: 'bad', icon: TriangleAlert },
  checked: { tone: 'good', icon: Check },
  problem: { tone: 'bad', icon: TriangleAlert },
  cleared: { tone: 'good', icon: Check, label: 'resolved' },
  ready: { tone: 'good', icon: Check },
  unready: { tone: 'warn', icon: TriangleAlert, label: 'bucket not ready' },
  unchecked: { tone: 'calm', icon: CircleDashed, label: 'not checked' },
  verified: { tone: 'good', icon: Check },
  unverified: { tone: 'bad', icon: X, label: 'not verified' },
  required: { tone: 'water', icon: Check },
  best_effort: { tone: 'calm', icon: CircleDashed, label: 'best effort' },
  repairing: { tone: 'water', icon: RefreshCw },
  allowed: { tone: 'good', icon: Check },
  rejected: { tone: 'bad', icon: X },
  awaiting_decision: { tone: 'warn', icon: Hourglass, label: 'awaiting decision' },
  deferred: { tone: 'warn', icon: Hourglass },
  open: { tone: 'good', icon: Check },
  closed: { tone: 'calm', icon: CircleOff },
  exhausted: { tone: 'warn', icon: CircleOff, label: 'used up' },
  test: { tone: 'calm', icon: CircleDashed },
} as const satisfies Record<string, Look>

export type State = keyof typeof STATES

const TONES: Record<Tone, string> = {
  good: 'bg-good-soft text-good',
  bad: 'bg-bad-soft text-bad',
  warn: 'bg-warn-soft text-warn',
  water: 'bg-water-soft text-water',
  calm: 'bg-hover text-ink-soft',
}

export function Status({ state, label, className }: { state: State; label?: string; className?: string }) {
  const { tone, icon: Icon, label: word }: Look = STATES[state]
  return (
    <span
      className={clsx(
        'inline-flex h-5 items-center gap-1 whitespace-nowrap rounded-sm px-1.5 font-medium text-xs',
        TONES[tone],
        className,
      )}
    >
      <Icon className="size-3" strokeWidth={2.6} aria-hidden />
      {label ?? word ?? state}
    </span>
  )
}
