! The library's routines from Fortran, with integers of 4 and of 8 bytes.
program library
  use omp_lib
  use iso_c_binding
  implicit none
  integer :: wrong = 0
  integer(4) :: chunk4, ids4(1024), devices
  integer(8) :: chunk8, ids8(1024)
  integer(omp_sched_kind) :: kind
  integer(omp_allocator_handle_kind) :: allocator
  type(omp_alloctrait) :: traits(1)
  character(80) :: text
  integer :: place, done
  integer(omp_event_handle_kind) :: event

  call omp_set_dynamic(.true.)
  call expect(omp_get_dynamic(), 'dynamic')
  call omp_set_dynamic(.false._8)
  call expect(.not. omp_get_dynamic(), 'not dynamic')
  call omp_set_nested(.false.)
  call omp_set_nested(.false._8)
  call expect(.not. omp_get_nested(), 'not nested')
  call omp_set_max_active_levels(1)
  call omp_set_max_active_levels(1_8)
  call expect(omp_get_max_active_levels() == 1, 'one level')
  call expect(omp_get_supported_active_levels() >= 1, 'supported levels')
  call omp_set_num_threads(int(omp_get_max_threads(), 8))
  call expect(omp_get_thread_limit() >= omp_get_max_threads(), 'thread limit')
  call expect(omp_get_num_procs() >= 1, 'processors')
  call omp_set_schedule(omp_sched_dynamic, 3)
  call omp_get_schedule(kind, chunk4)
  call expect(kind == omp_sched_dynamic .and. chunk4 == 3, 'schedule of 4 bytes')
  call omp_set_schedule(omp_sched_guided, 5_8)
  call omp_get_schedule(kind, chunk8)
  call expect(kind == omp_sched_guided .and. chunk8 == 5, 'schedule of 8 bytes')
  call expect(omp_get_level() == 0 .and. omp_get_active_level() == 0, 'level')
  call expect(omp_get_ancestor_thread_num(0) == 0 .and. omp_get_ancestor_thread_num(0_8) == 0, 'ancestor')
  call expect(omp_get_team_size(0) == 1 .and. omp_get_team_size(0_8) == 1, 'team size')
  call expect(omp_get_ancestor_thread_num(7) == -1 .and. omp_get_team_size(7) == -1, 'no such level')
  call expect(.not. omp_in_final(), 'not final')
  call expect(.not. omp_get_cancellation(), 'no cancellation')
  call expect(omp_get_max_task_priority() >= 0, 'priority')
  call expect(omp_get_proc_bind() >= omp_proc_bind_false, 'binding')
  do place = 0, min(omp_get_num_places(), 100) - 1
    call expect(omp_get_place_num_procs(place) > 0, 'processors of a place')
    call expect(omp_get_place_num_procs(int(place, 8)) > 0, 'processors of a place, 8 bytes')
    call omp_get_place_proc_ids(place, ids4)
    call omp_get_place_proc_ids(int(place, 8), ids8)
  end do
  call expect(omp_get_place_num() >= -1 .and. omp_get_partition_num_places() >= 0, 'places')
  call omp_get_partition_place_nums(ids4)
  call omp_get_partition_place_nums(ids8)
  call omp_set_affinity_format('thread %i')
  call expect(omp_get_affinity_format(text) > 0, 'format')
  call expect(omp_capture_affinity(text, '') > 0, 'affinity')
  call omp_display_affinity('')
  call omp_display_env(.false.)
  call omp_display_env(.false._8)

  devices = omp_get_num_devices()
  call expect(devices == 0 .and. omp_is_initial_device(), 'the host alone')
  call omp_set_default_device(omp_get_initial_device())
  call omp_set_default_device(int(omp_get_initial_device(), 8))
  call expect(omp_get_default_device() == omp_get_device_num(), 'default device')
  call expect(omp_get_num_teams() == 1 .and. omp_get_team_num() == 0, 'teams')
  call omp_set_num_teams(2)
  call omp_set_num_teams(2_8)
  call omp_set_teams_thread_limit(2)
  call omp_set_teams_thread_limit(2_8)
  call expect(omp_get_max_teams() >= 0 .and. omp_get_teams_thread_limit() >= 0, 'league')
  done = omp_pause_resource(omp_pause_soft, omp_get_initial_device())
  done = omp_pause_resource_all(omp_pause_soft)

  traits(1) = omp_alloctrait(omp_atk_alignment, 64)
  allocator = omp_init_allocator(omp_default_mem_space, 1, traits)
  call omp_destroy_allocator(allocator)
  allocator = omp_init_allocator(omp_default_mem_space, 1_8, traits)
  call omp_destroy_allocator(allocator)
  call omp_set_default_allocator(omp_default_mem_alloc)
  call expect(omp_get_default_allocator() == omp_default_mem_alloc, 'allocator')

  done = 0
  !$omp parallel
  !$omp single
  !$omp task detach(event) depend(out: done) shared(done)
  done = 1
  !$omp end task
  !$omp task depend(inout: done) shared(done)
  done = done + 10
  !$omp end task
  call omp_fulfill_event(event)
  !$omp taskwait
  !$omp end single
  !$omp end parallel
  call expect(done == 11, 'detached')
  include 'expect.fi'
end program
