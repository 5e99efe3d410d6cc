// File systems for tests, each created in a file and mounted. That requires root.

import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** Whether this process may mount: root on its own machine, not in a container without devices. */
export const mayMount = process.platform === 'linux' && process.getuid() === 0 && fs.existsSync('/dev/loop-control')
export const shell = (command) =>
  execFileSync('sh', ['-c', `PATH=$PATH:/usr/sbin:/sbin; ${command}`], { stdio: 'pipe' })

const image = (at, make, megabytes) => `truncate -s ${megabytes}M ${at}/image && ${make} ${at}/image`
const loop = (make, smallest) => (at, megabytes) =>
  `${image(at, make, Math.max(smallest, megabytes))} && mount -o loop ${at}/image ${at}/root`

/** How each is created in the folder `at` and mounted on `at/root`. */
const MOUNTS = {
  ext4: loop('mkfs.ext4 -q -m 0', 1),
  XFS: loop('mkfs.xfs -q -m reflink=1', 320),
  Btrfs: loop('mkfs.btrfs -q', 120),
  tmpfs: (at, megabytes) => `mount -t tmpfs -o size=${megabytes}m tmpfs ${at}/root`,
  overlayfs: (at, megabytes) =>
    `mkdir ${at}/disk ${at}/lower && ${image(at, 'mkfs.ext4 -q -m 0', megabytes)} && ` +
    `mount -o loop ${at}/image ${at}/disk && mkdir ${at}/disk/upper ${at}/disk/work && ` +
    `mount -t overlay -o lowerdir=${at}/lower,upperdir=${at}/disk/upper,workdir=${at}/disk/work overlay ${at}/root`,
}

export const SYSTEMS = Object.keys(MOUNTS)

/** Mounts a new one of this size, or of its minimum size: its folder, and how to remove it. */
export function mount(name, megabytes = 8) {
  const at = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-file-system-'))
  const root = path.join(at, 'root')
  fs.mkdirSync(root)
  const unmount = () => shell(`umount -l ${at}/root; umount -l ${at}/disk; rm -rf ${at}; true`)
  try {
    shell(`${MOUNTS[name](at, megabytes)} && chmod 755 ${at} && chmod 1777 ${at}/root`) // some tests become other users
  } catch (error) {
    unmount()
    throw error
  }
  return { root, unmount }
}
