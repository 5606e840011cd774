'use client'

import { type ComponentProps, useState } from 'react'
import { inUnit, UNIT_BYTES } from '../format.ts'
import { TextField } from './field.tsx'
import { UnitSelect } from './unit-select.tsx'

type Props = ComponentProps<typeof TextField> & { bytes: number | null | undefined; unitLabel?: string }

/** A number and its unit, which actions read with `bytesOf`. */
export function SizeField({ bytes, unitLabel = 'Unit of size', ...field }: Props) {
  const [size] = useState(() => (bytes ? inUnit(bytes) : { amount: bytes ?? undefined, unit: 'GB' }))
  return (
    <TextField
      inputMode="decimal"
      {...field}
      defaultValue={size.amount}
      after={
        <UnitSelect name={`${field.name}Unit`} label={unitLabel} defaultValue={size.unit}>
          {Object.keys(UNIT_BYTES).map((unit) => (
            <option key={unit}>{unit}</option>
          ))}
        </UnitSelect>
      }
    />
  )
}
