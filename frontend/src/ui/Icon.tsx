/** The icons of pages and buttons, by name. Shapes of states are in `Sprite.tsx`. */

import type { ReactNode } from "react";

const DRAWN = {
  theme: (
    <>
      <circle cx="8" cy="8" r="5.2" />
      <path d="M8 2.800a5.200 5.200 0 0 1 0 10.400z" fill="currentColor" stroke="none" />
    </>
  ),
  chat: (
    <>
      <path d="M2.5 4.2c0-.9.7-1.7 1.7-1.7h7.6c1 0 1.7.8 1.7 1.7v5c0 1-.7 1.7-1.7 1.7H7l-3 2.6v-2.6c-.9-.1-1.5-.8-1.5-1.7z" />
    </>
  ),
  servers: (
    <>
      <rect x="2" y="2.5" width="12" height="4.6" rx="1.3" />
      <rect x="2" y="8.9" width="12" height="4.6" rx="1.3" />
      <path d="M4.6 4.8h.1M4.6 11.2h.1M8.5 4.8h3M8.5 11.2h3" />
    </>
  ),
  tools: (
    <>
      <path
        d="M9.4 3.1a3.2 3.2 0 0 1 3.9-.4l-2 2 .2 1.3 1.3.2 2-2a3.2 3.2 0 0 1-4.4 4L6 12.6a1.6 1.6 0 0 1-2.3-2.3l4.4-4.4a3.2 3.2 0 0 1 1.3-2.8Z"
        transform="translate(-1 .6)"
      />
    </>
  ),
  workflows: (
    <>
      <rect x="1.8" y="2.2" width="4.6" height="4" rx="1.1" />
      <rect x="9.6" y="9.8" width="4.6" height="4" rx="1.1" />
      <path d="M6.4 4.2h3.1a2.4 2.4 0 0 1 2.4 2.4v3.2" />
    </>
  ),
  activity: (
    <>
      <path d="M2.5 4h2M2.5 8h2M2.5 12h2M7 4h6.5M7 8h6.5M7 12h4" />
    </>
  ),
  connect: (
    <>
      <path d="M5.6 2v3.2M10.4 2v3.2M3.6 5.2h8.8v2.3A4.4 4.4 0 0 1 8 11.9a4.4 4.4 0 0 1-4.4-4.4zM8 11.9V14" />
    </>
  ),
  settings: (
    <>
      <path d="M2.5 4.6h6M12 4.6h1.5M2.5 11.4H4M7.5 11.4h6" />
      <circle cx="10.2" cy="4.6" r="1.7" />
      <circle cx="5.7" cy="11.4" r="1.7" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.2" />
      <path d="m10.2 10.2 3.3 3.3" />
    </>
  ),
  more: (
    <>
      <path d="M2.500 5h11M2.500 11h11" />
    </>
  ),
  back: (
    <>
      <path d="m10 3.500-4.500 4.500 4.500 4.500" />
    </>
  ),
  close: (
    <>
      <path d="m4 4 8 8m0-8-8 8" />
    </>
  ),
  plus: (
    <>
      <path d="M8 3.2v9.6M3.2 8h9.6" />
    </>
  ),
  fork: (
    <>
      <circle cx="4.500" cy="3.800" r="1.500" />
      <circle cx="4.500" cy="12.200" r="1.500" />
      <circle cx="11.500" cy="5.500" r="1.500" />
      <path d="M4.500 5.300v5.400M11.500 7c0 2.600-2.500 3-7 3.700" />
    </>
  ),
  dots: (
    <>
      <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2.2" />
    </>
  ),
  again: (
    <>
      <path d="M13 8a5 5 0 1 1-1.6-3.7M13 2.5v2.6h-2.6" />
    </>
  ),
  down: (
    <>
      <path d="m4 6 4 4 4-4" />
    </>
  ),
  right: (
    <>
      <path d="m6 4 4 4-4 4" />
    </>
  ),
  attach: (
    <>
      <path d="m12.800 7.500-4.900 4.900a2.900 2.900 0 0 1-4.100-4.100l5.200-5.200a1.900 1.900 0 0 1 2.700 2.700l-5.100 5.100a1 1 0 0 1-1.400-1.400l4.600-4.600" />
    </>
  ),
  pin: (
    <>
      <path d="M5.8 2.5h4.4l-.5 4 2 2v1.2H4.3V8.500l2-2zM8 9.700V13.500" />
    </>
  ),
  ban: (
    <>
      <circle cx="8" cy="8" r="5.2" />
      <path d="m4.4 11.600 7.200-7.200" />
    </>
  ),
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.5 5.5v-2c0-.6-.4-1-1-1h-6c-.6 0-1 .4-1 1v6c0 .6.4 1 1 1h2" />
    </>
  ),
  tick: (
    <>
      <path d="m3.2 8.4 3.1 3.1 6.500-7" />
    </>
  ),
  branch: (
    <>
      <path d="M3 8h4l4-4h2M7 8l4 4h2" />
    </>
  ),
  eye: (
    <>
      <path d="M1.500 8S4 3.800 8 3.800 14.500 8 14.500 8 12 12.200 8 12.200 1.500 8 1.500 8z" />
      <circle cx="8" cy="8" r="1.800" />
    </>
  ),
  clock: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 5v3.3l2.2 1.4" />
    </>
  ),
  play: (
    <>
      <path d="M5 3.3v9.4l7.5-4.7z" />
    </>
  ),
  undo: (
    <>
      <path d="M3 6.2h6.300a3.400 3.400 0 0 1 0 6.800H6.500M5.800 3.200 2.800 6.200l3 3" />
    </>
  ),
  redo: (
    <>
      <path d="M13 6.2H6.700a3.400 3.400 0 0 0 0 6.800h2.800M10.200 3.200l3 3-3 3" />
    </>
  ),
  file: (
    <>
      <path d="M4 2.300h5l3.200 3.200v8.200H4z" />
      <path d="M8.800 2.500v3.200h3.200M6 8.700h4.200M6 11h4.200" />
    </>
  ),
  picture: (
    <>
      <rect x="2.300" y="3" width="11.400" height="10" rx="1.600" />
      <circle cx="5.800" cy="6.300" r="1" />
      <path d="m2.600 11.500 3.200-2.800 2.300 1.900 2.400-2.600 3 3" />
    </>
  ),
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof DRAWN;

/** A line drawing of 16 pixels; it says nothing to a screen reader, the words beside it do. */
export function Icon({ name, small = false }: { name: IconName; small?: boolean }) {
  return (
    <svg className={small ? "icon small" : "icon"} viewBox="0 0 16 16" aria-hidden="true">
      {DRAWN[name]}
    </svg>
  );
}
