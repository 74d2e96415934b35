/* The clock of `clock.py`: time of day and the times of files are CLOCK_OFFSET seconds later than they are.
   Monotonic time, which time limits and waits are measured by, stays as it is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset;

__attribute__((constructor)) static void read_offset(void) {
  const char *words = getenv("CLOCK_OFFSET");
  offset = words ? atol(words) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = syscall(SYS_clock_gettime, clock, now);
  if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += offset;
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  int result = syscall(SYS_gettimeofday, now, zone);
  if (!result && now) now->tv_sec += offset;
  return result;
}

time_t time(time_t *place) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (place) *place = now.tv_sec;
  return now.tv_sec;
}

/* Files: what the kernel notes is of its own clock, so it is moved when it is read and when it is set. */

static int move(int result, struct stat *file) {
  if (!result) {
    file->st_atim.tv_sec += offset;
    file->st_mtim.tv_sec += offset;
    file->st_ctim.tv_sec += offset;
  }
  return result;
}

#define ORIGINAL(name, ...) ((int (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))
#define STATS(stat, lstat, fstat, fstatat)                                                          \
  int stat(const char *path, struct stat *file) {                                                   \
    return move(ORIGINAL(stat, const char *, struct stat *)(path, file), file);                     \
  }                                                                                                 \
  int lstat(const char *path, struct stat *file) {                                                  \
    return move(ORIGINAL(lstat, const char *, struct stat *)(path, file), file);                    \
  }                                                                                                 \
  int fstat(int open, struct stat *file) {                                                          \
    return move(ORIGINAL(fstat, int, struct stat *)(open, file), file);                             \
  }                                                                                                 \
  int fstatat(int folder, const char *path, struct stat *file, int flags) {                         \
    return move(ORIGINAL(fstatat, int, const char *, struct stat *, int)(folder, path, file, flags), file); \
  }
STATS(stat, lstat, fstat, fstatat)
#undef stat64
/* The same functions under the names that programs with large files use. */
int stat64(const char *path, struct stat64 *file) { return stat(path, (struct stat *)file); }
int lstat64(const char *path, struct stat64 *file) { return lstat(path, (struct stat *)file); }
int fstat64(int open, struct stat64 *file) { return fstat(open, (struct stat *)file); }
int fstatat64(int folder, const char *path, struct stat64 *file, int flags) {
  return fstatat(folder, path, (struct stat *)file, flags);
}

int statx(int folder, const char *restrict path, int flags, unsigned int mask, struct statx *restrict file) {
  int result = syscall(SYS_statx, folder, path, flags, mask, file);
  if (!result) {
    file->stx_atime.tv_sec += offset;
    file->stx_btime.tv_sec += offset;
    file->stx_ctime.tv_sec += offset;
    file->stx_mtime.tv_sec += offset;
  }
  return result;
}

static int set_times(int folder, const char *path, const struct timespec times[2], int flags) {
  struct timespec moved[2];
  for (int each = 0; times && each < 2; each++) {
    moved[each] = times[each];
    if (times[each].tv_nsec != UTIME_NOW && times[each].tv_nsec != UTIME_OMIT) moved[each].tv_sec -= offset;
  }
  return syscall(SYS_utimensat, folder, path, times ? moved : NULL, flags);
}

int utimensat(int folder, const char *path, const struct timespec times[2], int flags) {
  return set_times(folder, path, times, flags);
}

int futimens(int open, const struct timespec times[2]) { return set_times(open, NULL, times, 0); }
