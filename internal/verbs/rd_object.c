//go:build cgo && linux && !noverbs

#include "rd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

/* What a verb that returns a pointer failed with. */
static int null_errno(void)
{
	return errno ? -errno : RD_NO_ERRNO;
}

int rd_alloc(size_t length, void **out)
{
	void *p = mmap(NULL, length, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	*out = p;
	return 0;
}

void rd_free(void *p, size_t length)
{
	munmap(p, length);
}

int rd_reg_mr(struct rd_lib *lib, struct ibv_pd *pd, void *addr, size_t length,
	      unsigned int access, struct ibv_mr **out, uint64_t *ns)
{
	uint64_t start;

	/*
	 * Without ibv_reg_mr_iova2 the optional flags must be taken away, as
	 * verbs.h does it.
	 */
	errno = 0;
	start = rd_now();
	if (lib->reg_mr_iova2 && (access & IBV_ACCESS_OPTIONAL_RANGE))
		*out = lib->reg_mr_iova2(pd, addr, length, (uintptr_t)addr,
					 access);
	else
		*out = lib->reg_mr(pd, addr, length,
				   (int)(access & ~IBV_ACCESS_OPTIONAL_RANGE));
	*ns = rd_now() - start;
	return *out ? 0 : null_errno();
}

int rd_alloc_pd(struct rd_lib *lib, struct ibv_context *ctx,
		struct ibv_pd **out)
{
	errno = 0;
	*out = lib->alloc_pd(ctx);
	return *out ? 0 : null_errno();
}

int rd_create_channel(struct rd_lib *lib, struct ibv_context *ctx,
		      struct ibv_comp_channel **out)
{
	int flags;

	errno = 0;
	*out = lib->create_comp_channel(ctx);
	if (!*out)
		return null_errno();
	/* The waiting is done with poll(2), which has a timeout. */
	flags = fcntl((*out)->fd, F_GETFL);
	if (flags >= 0)
		fcntl((*out)->fd, F_SETFL, flags | O_NONBLOCK);
	return 0;
}

int rd_create_cq(struct rd_lib *lib, struct ibv_context *ctx, int cqe,
		 struct ibv_comp_channel *ch, int vector, struct ibv_cq **out)
{
	errno = 0;
	*out = lib->create_cq(ctx, cqe, NULL, ch, vector);
	return *out ? 0 : null_errno();
}

int rd_create_qp(struct rd_lib *lib, struct ibv_pd *pd,
		 struct ibv_qp_init_attr *attr, struct ibv_qp **out)
{
	errno = 0;
	*out = lib->create_qp(pd, attr);
	return *out ? 0 : null_errno();
}

int rd_create_ah(struct rd_lib *lib, struct ibv_pd *pd,
		 struct ibv_ah_attr *attr, struct ibv_ah **out)
{
	errno = 0;
	*out = lib->create_ah(pd, attr);
	return *out ? 0 : null_errno();
}

int rd_dereg_mr(struct rd_lib *lib, struct ibv_mr *mr)
{
	errno = 0;
	return rd_ret(lib->dereg_mr(mr));
}

int rd_dealloc_pd(struct rd_lib *lib, struct ibv_pd *pd)
{
	errno = 0;
	return rd_ret(lib->dealloc_pd(pd));
}

int rd_destroy_channel(struct rd_lib *lib, struct ibv_comp_channel *ch)
{
	errno = 0;
	return rd_ret(lib->destroy_comp_channel(ch));
}

int rd_destroy_cq(struct rd_lib *lib, struct ibv_cq *cq)
{
	errno = 0;
	return rd_ret(lib->destroy_cq(cq));
}

int rd_destroy_qp(struct rd_lib *lib, struct ibv_qp *qp)
{
	errno = 0;
	return rd_ret(lib->destroy_qp(qp));
}

int rd_destroy_ah(struct rd_lib *lib, struct ibv_ah *ah)
{
	errno = 0;
	return rd_ret(lib->destroy_ah(ah));
}

int rd_modify_qp(struct rd_lib *lib, struct ibv_qp *qp,
		 struct ibv_qp_attr *attr, int mask)
{
	errno = 0;
	return rd_ret(lib->modify_qp(qp, attr, mask));
}

int rd_query_qp(struct rd_lib *lib, struct ibv_qp *qp,
		struct ibv_qp_attr *attr)
{
	struct ibv_qp_init_attr init;

	memset(attr, 0, sizeof(*attr));
	memset(&init, 0, sizeof(init));
	errno = 0;
	return rd_ret(lib->query_qp(qp, attr, (1 << 21) - 1, &init));
}
