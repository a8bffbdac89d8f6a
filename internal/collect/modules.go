package collect

import (
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// rdmaModules are the kernel modules that RDMA needs, or that say which stack
// is in use. Only these are looked for in module indexes and asked for their
// version.
var rdmaModules = map[string]bool{
	// core
	"ib_core": true, "ib_cm": true, "iw_cm": true, "rdma_cm": true, "rdma_ucm": true,
	"ib_uverbs": true, "ib_umad": true, "ib_ipoib": true, "mlx_compat": true,
	// drivers and what they sit on
	"be2net": true, "ocrdma": true, "bnxt_en": true, "bnxt_re": true, "bng_en": true, "bng_re": true,
	"cxgb4": true, "iw_cxgb4": true, "efa": true, "ena": true, "enic": true, "usnic_verbs": true,
	"erdma": true, "hfi1": true, "rdmavt": true, "hns3": true, "hclge": true, "hns_roce_hw_v2": true,
	"i40e": true, "iavf": true, "ice": true, "idpf": true, "irdma": true, "i40iw": true,
	"ib_mthca": true, "ib_qib": true, "ionic": true, "ionic_rdma": true, "mana": true, "mana_ib": true,
	"mlx4_core": true, "mlx4_en": true, "mlx4_ib": true, "mlx5_core": true, "mlx5_ib": true, "mlxfw": true,
	"qed": true, "qede": true, "qedr": true, "vmw_pvrdma": true,
	// software devices
	"rdma_rxe": true, "siw": true, "crc32_generic": true, "crc32c_generic": true,
	// users of RDMA in the kernel
	"nvme_rdma": true, "nvmet_rdma": true, "ib_iser": true, "ib_isert": true, "ib_srp": true, "ib_srpt": true,
	"rpcrdma": true, "xprtrdma": true, "svcrdma": true, "rds_rdma": true, "smc": true, "ko2iblnd": true,
	"rnbd_client": true, "rnbd_server": true, "9pnet_rdma": true, "cifs": true, "ksmbd": true,
	// GPUDirect
	"nvidia": true, "nvidia_peermem": true, "nv_peer_mem": true, "ib_peer_mem": true, "gdrdrv": true, "amdgpu": true,
}

// moduleList reads the loaded modules (/proc/modules, see m_show in
// kernel/module/procfs.c) and what sysfs says of the built-in ones.
var _ = register(Collector{
	Source: facts.ModuleList,
	Read: func(r *Reader) {
		b := r.batch()
		var loaded hostio.Result
		var builtin []string
		b.add(hostio.Op{Kind: hostio.ReadFile, Name: procModules, Limit: 1 << 20}, func(res hostio.Result) { loaded = res })
		b.dir("/sys/module", func(names []string) { builtin = names })
		const mode = "/sys/module/ib_core/parameters/netns_mode"
		b.fileIf(mode, func(text string) {
			var shared bool
			if keep(r, mode, text, &shared, parseBoolYN) && !r.Snap.RDMA.NetnsMode.Known() {
				r.Snap.RDMA.NetnsMode = facts.Some(map[bool]string{true: "shared", false: "exclusive"}[shared])
			}
		})
		b.run()
		switch err := loaded.Err(); {
		case err == nil:
			modules, bad := parseModules(string(loaded.Data))
			if bad != "" {
				r.Malformed(procModules, strings.TrimSpace(bad), "NAME SIZE USERS DEPENDS STATE ADDRESS")
			}
			r.Snap.Modules = modules
		case absent(err) && builtin != nil && r.Snap.Origin != facts.Tree:
			// A kernel that can load no modules. What it has is built in.
		default:
			r.Gap(procModules, err)
			return
		}
		r.Have()
		noteBuiltin(r.Snap, builtin)
		collectVersions(r)
		collectParameters(r)
		collectGPUDirect(r)
	},
})

const procModules = "/proc/modules"

// noteBuiltin notes the modules that have a directory in sysfs and are not
// loaded: they are part of the kernel.
func noteBuiltin(s *facts.Snapshot, names []string) {
	for _, name := range names {
		if rdmaModules[name] && s.Module(name) == nil {
			mark(&s.Kernel.Builtin, name)
		}
	}
}

func mark(set *map[string]bool, name string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[name] = true
}

// collectVersions reads MODULE_VERSION of loaded RDMA modules. Inbox ones have
// none mostly, out-of-tree stacks such as MLNX_OFED do.
func collectVersions(r *Reader) {
	b := r.batch()
	for i := range r.Snap.Modules {
		if m := &r.Snap.Modules[i]; rdmaModules[m.Name] {
			attrIf(b, "/sys/module/"+m.Name+"/version", &m.Version, parseText)
		}
	}
	b.run()
}

// parseModules reads /proc/modules. Bad is the first line in another form.
func parseModules(s string) (modules []facts.Module, bad string) {
	for line := range strings.Lines(s) {
		m, ok := parseModule(line)
		if ok {
			modules = append(modules, m)
		} else if bad == "" {
			bad = line
		}
	}
	return modules, bad
}

// parseModule reads one line:
// ib_core 458752 9 rdma_cm,ib_uverbs, Live 0x0000000000000000 (OE)
func parseModule(line string) (facts.Module, bool) {
	f := strings.Fields(strings.ToValidUTF8(line, "�"))
	if len(f) < 6 {
		return facts.Module{}, false
	}
	size, err := parseInt(f[1])
	m := facts.Module{Name: f[0], Size: size, State: f[4]}
	if len(f) > 6 {
		m.Taints = strings.Trim(f[6], "()")
	}
	return m, err == nil
}

// parseBoolYN reads a module parameter of type bool.
func parseBoolYN(s string) (bool, error) {
	if s != "Y" && s != "N" {
		return false, form("Y or N")
	}
	return s == "Y", nil
}
