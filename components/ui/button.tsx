import { clsx } from 'clsx'
import { LoaderCircle, type LucideIcon } from 'lucide-react'
import type { ComponentProps } from 'react'

export type Look = { tone?: 'primary' | 'plain' | 'quiet' | 'danger'; size?: 'sm' | 'md' | 'lg' | 'icon' }

const TONES = {
  primary:
    'bg-water text-on-water shadow-raised hover:bg-water-strong disabled:hover:bg-water border border-transparent',
  plain: 'border border-line-strong bg-raised text-ink shadow-raised hover:bg-hover',
  quiet: 'border border-transparent text-ink-soft hover:bg-hover hover:text-ink',
  danger: 'border border-transparent bg-bad-fill text-white shadow-raised hover:brightness-110',
} as const

const SIZES = {
  sm: 'h-7 gap-1.5 px-2.5 text-sm',
  md: 'h-8 gap-2 px-3 text-sm',
  lg: 'h-10 gap-2 px-4.5 text-base',
  icon: 'size-8 justify-center',
} as const

export function buttonLook({ tone = 'plain', size = 'md' }: Look, className?: string): string {
  return clsx(
    'inline-flex shrink-0 select-none items-center justify-center whitespace-nowrap rounded-md font-medium',
    'transition-[background-color,color,filter] duration-100 disabled:cursor-not-allowed disabled:opacity-55',
    '[&_svg]:size-4 [&_svg]:shrink-0',
    TONES[tone],
    SIZES[size],
    className,
  )
}

type ButtonProps = ComponentProps<'button'> & Look & { busy?: boolean; icon?: LucideIcon }

export function Button({
  tone,
  size,
  busy = false,
  icon: Icon,
  className,
  children,
  disabled,
  type = 'button',
  ...rest
}: ButtonProps) {
  return (
    <button
      type={type}
      className={buttonLook({ tone, size }, className)}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      {...rest}
    >
      {busy && <LoaderCircle className="animate-spin" aria-hidden />}
      {Icon && <Icon aria-hidden />}
      {children}
    </button>
  )
}
